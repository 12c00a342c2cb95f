"""Finished conversations of a campaign's export: the zip that Parley makes.

Each side's persona is the one that was on its seat; with "#revised" after the path it is told in
other words, for those whose other words are there. "self" is side 1: a bot, or the second person.
What was withdrawn or set aside is left out.

Source: none, the layout is ours; ConvAI2 (Dinan et al. 2019, section 2.1) tests on such a
collection, in both forms.
"""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, TypeVar

from msgspec import DecodeError, Meta, Struct, ValidationError, convert, json

from bots.dialogue import Dialogue, Speaker, Utterance
from bots.line_files import InvalidData

SPEAKERS: tuple[Speaker, Speaker] = ("partner", "self")  # by side
FORMS = ("", "original", "revised")
Personas = Mapping[str, tuple[str, ...]]
Side = Annotated[int, Meta(ge=0, le=1)]


class ExportedPersona(Struct):
    """A persona as it was on a seat."""

    key: str
    sentences: tuple[str, ...]


class ExportedSeat(Struct):
    """A side of a conversation; what was withdrawn or set aside is left out."""

    side: Side
    withdrawn: bool
    excluded: str
    persona: ExportedPersona | None


class MessageContent(Struct):
    """What a message said; events of other kinds have other contents."""

    text: str


class ExportedMessage(Struct):
    """A message of a conversation's log."""

    side: Side
    content: MessageContent


class ExportedConversation(Struct):
    """A line of `conversations.jsonl`, of which more is written."""

    conversation: int
    state: str
    excluded: str
    seats: list[ExportedSeat]
    events: list[dict[str, Any]]


class OtherWords(Struct):
    """A line of `personas.jsonl`: the persona in other words, if it was revised."""

    persona: str
    revised: tuple[str, ...] = ()


Line = TypeVar("Line", ExportedConversation, OtherWords)


def read(source: str) -> list[Dialogue]:
    """Read the export at this path. Raises `InvalidData` if it has no finished conversation."""
    name, _, form = source.partition("#")
    if form not in FORMS:
        raise InvalidData([f"{source}: {form!r} is no form; write #original or #revised"])
    path = Path(name)
    try:
        with zipfile.ZipFile(path) as archive:
            records = _lines(archive, path, "conversations.jsonl", ExportedConversation)
            personas = _lines(archive, path, "personas.jsonl", OtherWords)
    except (OSError, zipfile.BadZipFile, NotImplementedError, RuntimeError) as problem:
        raise InvalidData([f"{path}: no export of a campaign ({problem})"]) from None
    other = {each.persona: each.revised for each in personas if each.revised}
    found, problems = list[Dialogue](), list[str]()
    for number, record in enumerate(records, start=1):
        try:
            if _fits(record):
                found.append(_dialogue(record, other if form == "revised" else {}))
        except ValidationError as problem:
            problems.append(f"{path}: conversations.jsonl, line {number}: {problem}")
    if problems or not found:
        raise InvalidData(problems or [f"{path}: has no finished conversation"])
    return found


def _lines(archive: zipfile.ZipFile, path: Path, name: str, kind: type[Line]) -> list[Line]:
    """Return what the lines of a file hold. Raises `InvalidData` with every line that is wrong."""
    members = [each for each in archive.namelist() if each.rpartition("/")[2] == name]
    if len(members) != 1:
        raise InvalidData([f"{path}: no export of a campaign ({len(members)} files {name})"])
    found, problems = list[Line](), list[str]()
    for number, line in enumerate(archive.read(members[0]).split(b"\n"), start=1):
        try:
            found += [json.decode(line, type=kind)] if line.strip() else []
        except DecodeError as problem:
            problems.append(f"{path}: {name}, line {number}: {problem}")
    if problems:
        raise InvalidData(problems)
    return found


def _fits(record: ExportedConversation) -> bool:
    spoiled = any(seat.withdrawn or seat.excluded for seat in record.seats)
    return record.state == "FINISHED" and not record.excluded and not spoiled


def _dialogue(record: ExportedConversation, other: Personas) -> Dialogue:
    shown = {seat.side: _persona(seat.persona, other) for seat in record.seats}
    logged = [event for event in record.events if event.get("kind") == "message"]
    messages = [convert(event, ExportedMessage) for event in logged]
    turns = tuple(Utterance(SPEAKERS[each.side], each.content.text) for each in messages)
    return Dialogue(str(record.conversation), turns, shown.get(1, ()), shown.get(0, ()))


def _persona(persona: ExportedPersona | None, other: Personas) -> tuple[str, ...]:
    return () if persona is None else other.get(persona.key, persona.sentences)
