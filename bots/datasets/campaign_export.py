"""Finished conversations of a campaign's export: the zip that Parley makes.

Each side's persona is the one that was on its seat; with "#revised" after the path it is told in
other words, for those whose other words are there. "self" is side 1: a bot, or the second person.
What was withdrawn or set aside is left out.

Source: none, the layout is ours; ConvAI2 (Dinan et al. 2019, section 2.1) tests on such a
collection, in both forms.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from bots.dialogue import Dialogue, Speaker, Utterance
from bots.line_files import InvalidData

SPEAKERS: tuple[Speaker, Speaker] = ("partner", "self")  # by side
FORMS = ("", "original", "revised")
Personas = Mapping[str, tuple[str, ...]]


def read(source: str) -> list[Dialogue]:
    """Read the export at this path. Raises `InvalidData` if it has no finished conversation."""
    name, _, form = source.partition("#")
    if form not in FORMS:
        raise InvalidData([f"{source}: {form!r} is no form; write #original or #revised"])
    try:
        with zipfile.ZipFile(name) as archive:
            records = list(_lines(archive, "conversations.jsonl"))
            personas = {each["persona"]: each for each in _lines(archive, "personas.jsonl")}
    except (OSError, zipfile.BadZipFile, KeyError, ValueError) as problem:
        raise InvalidData([f"{Path(name)}: no export of a campaign ({problem})"]) from None
    other = {key: tuple(each["revised"]) for key, each in personas.items() if each["revised"]}
    found = [_dialogue(each, other if form == "revised" else {}) for each in records if _fits(each)]
    if not found:
        raise InvalidData([f"{Path(name)}: has no finished conversation"])
    return found


def _lines(archive: zipfile.ZipFile, name: str) -> Iterator[dict[str, Any]]:
    (path,) = [each for each in archive.namelist() if each.rpartition("/")[2] == name]
    yield from map(json.loads, archive.read(path).decode("utf-8").splitlines())


def _fits(record: Mapping[str, Any]) -> bool:
    seats = record["seats"]
    spoiled = any(seat["withdrawn"] or seat["excluded"] for seat in seats)
    return record["state"] == "FINISHED" and not record["excluded"] and not spoiled


def _dialogue(record: Mapping[str, Any], other: Personas) -> Dialogue:
    shown = {seat["side"]: _persona(seat["persona"], other) for seat in record["seats"]}
    turns = [
        Utterance(SPEAKERS[event["side"]], event["content"]["text"])
        for event in record["events"]
        if event["kind"] == "message"
    ]
    number = str(record["conversation"])
    return Dialogue(number, tuple(turns), shown.get(1, ()), shown.get(0, ()))


def _persona(persona: Mapping[str, Any] | None, other: Personas) -> tuple[str, ...]:
    if persona is None:
        return ()
    return other.get(persona["key"], tuple(persona["sentences"]))
