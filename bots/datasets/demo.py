"""Parley's own small talk: personas and dialogues that come with the package.

The source is a split: train, valid or test, or all; with ":revised" after it, personas are told in
other words, as PERSONA-CHAT's revised ones are. No persona is in two splits.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bots.dialogue import Dialogue, Utterance
from bots.line_files import BadLine, InvalidData, read_records, text_of, texts_of

TEXT = Path(__file__).parent / "text"
SPLITS = ("train", "valid", "test")
FORMS = ("original", "revised")


@dataclass(frozen=True)
class DemoPersona:
    """A persona in five sentences, and the same in other words."""

    id: str
    split: str
    original: tuple[str, ...]
    revised: tuple[str, ...]


@dataclass(frozen=True)
class DemoSheet:
    """A sheet of one side, such as a role: lines of its own, and lines that both sides have."""

    id: str
    group: str
    name: str
    sentences: tuple[str, ...]
    shared: tuple[str, ...]


@dataclass(frozen=True)
class _StoredDialogue:
    id: str
    split: str
    personas: tuple[str, ...]
    turns: tuple[str, ...]


def read(source: str) -> list[Dialogue]:
    """Read a split, with original or revised personas."""
    split, form = _chosen(source)
    known = {each.id: each for each in personas(split)}
    kept = [stored for stored in _all("dialogues", _stored) if split in (stored.split, "all")]
    return [_dialogue(stored, known, form) for stored in kept]


def personas(source: str = "all") -> list[DemoPersona]:
    """Return the personas of a split."""
    split, _ = _chosen(source)
    return [each for each in _all("personas", _persona) if split in (each.split, "all")]


def sheets(protocol: str) -> list[DemoSheet]:
    """Return the sheets that were written for a protocol; most have none."""
    path = TEXT / f"sheets_{protocol}.jsonl"
    return list(read_records(path, _sheet)) if path.is_file() else []


def _chosen(source: str) -> tuple[str, str]:
    split, _, form = source.partition(":")
    split, form = split or "all", form or FORMS[0]
    if split not in (*SPLITS, "all") or form not in FORMS:
        raise InvalidData(
            [f"demo:{source}: must be one of train, valid, test, all, each with :revised or not"]
        )
    return split, form


def _all(kind: str, parse: Any) -> list[Any]:
    return [
        each for path in sorted(TEXT.glob(f"{kind}_*.jsonl")) for each in read_records(path, parse)
    ]


def _persona(record: Mapping[str, Any]) -> DemoPersona:
    return DemoPersona(
        text_of(record, "id"),
        text_of(record, "split"),
        texts_of(record, "sentences", least=5),
        texts_of(record, "revised", least=5),
    )


def _sheet(record: Mapping[str, Any]) -> DemoSheet:
    return DemoSheet(
        text_of(record, "id"),
        text_of(record, "group"),
        text_of(record, "name"),
        texts_of(record, "sentences", least=1),
        texts_of(record, "shared", least=0),
    )


def _stored(record: Mapping[str, Any]) -> _StoredDialogue:
    sides = texts_of(record, "personas", least=2)
    if len(sides) > 2:
        raise BadLine(f"personas is {list(sides)}, but must be two")
    return _StoredDialogue(
        text_of(record, "id"), text_of(record, "split"), sides, texts_of(record, "turns", least=2)
    )


def _dialogue(stored: _StoredDialogue, known: Mapping[str, DemoPersona], form: str) -> Dialogue:
    own, partner = (getattr(known[name], form) for name in stored.personas)
    turns = (
        Utterance("self" if index % 2 == 0 else "partner", text)
        for index, text in enumerate(stored.turns)
    )
    return Dialogue(stored.id, tuple(turns), own, partner)
