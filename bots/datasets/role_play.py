"""Conversations in the role of characters of a series, their monologues and descriptions.

Source: PERSONA-METRICS (protocol PM-P1): two series of five characters, conversations on a topic
between two of one series; for each character lines of a monologue and sentences that describe it.
The paper's corpora are not ours to ship; two small series that we made up come with the package. A
line is one of {"kind": "character", "id", "series", "description": [...]}, {"kind": "line",
"character", "text"}, {"kind": "conversation", "id", "topic", "characters": [two ids], "turns":
[...]}, in which the first character opens. The source is a path, or nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bots.dialogue import Dialogue, Utterance
from bots.line_files import BadLine, InvalidData, one_of, read_records, text_of, texts_of

BUNDLED = Path(__file__).parent / "text" / "role_play.jsonl"
KINDS = ("character", "line", "conversation")


@dataclass(frozen=True)
class Character:
    """Somebody of a series, in a few sentences."""

    id: str
    series: str
    description: tuple[str, ...]


@dataclass(frozen=True)
class RoleLine:
    """One sentence of a character's monologue."""

    character: str
    text: str


@dataclass(frozen=True)
class RolePlayConversation:
    """A conversation of two characters of one series, on a topic."""

    id: str
    topic: str
    characters: tuple[str, str]
    turns: tuple[str, ...]


@dataclass(frozen=True)
class RolePlayCorpus:
    """All of a file."""

    characters: tuple[Character, ...]
    lines: tuple[RoleLine, ...]
    conversations: tuple[RolePlayConversation, ...]

    def monologues(self) -> dict[str, list[str]]:
        """Return the lines of each character."""
        return {
            each.id: [line.text for line in self.lines if line.character == each.id]
            for each in self.characters
        }


def read(source: str) -> list[Dialogue]:
    """Read the conversations; a persona is the description of its character."""
    corpus = read_corpus(source)
    known = {each.id: each.description for each in corpus.characters}
    return [
        Dialogue(
            each.id,
            tuple(
                Utterance("self" if index % 2 == 0 else "partner", text)
                for index, text in enumerate(each.turns)
            ),
            known[each.characters[0]],
            known[each.characters[1]],
        )
        for each in corpus.conversations
    ]


def read_corpus(source: str) -> RolePlayCorpus:
    """Read the file at this path, or what comes with the package.

    Raises InvalidData, naming everything wrong with the file.
    """
    path = Path(source) if source else BUNDLED
    found = read_records(path, _parsed)
    corpus = RolePlayCorpus(
        tuple(each for each in found if isinstance(each, Character)),
        tuple(each for each in found if isinstance(each, RoleLine)),
        tuple(each for each in found if isinstance(each, RolePlayConversation)),
    )
    problems = [f"{path}: {problem}" for problem in _contradictions(corpus)]
    if problems:
        raise InvalidData(problems)
    return corpus


def _parsed(record: Mapping[str, Any]) -> Character | RoleLine | RolePlayConversation:
    kind = one_of(record, "kind", KINDS)
    if kind == "character":
        about = texts_of(record, "description", least=1)
        return Character(text_of(record, "id"), text_of(record, "series"), about)
    if kind == "line":
        return RoleLine(text_of(record, "character"), text_of(record, "text"))
    sides = texts_of(record, "characters", least=2)
    if len(sides) > 2 or sides[0] == sides[1]:
        raise BadLine(f"characters is {list(sides)}, but must be two different ones")
    return RolePlayConversation(
        text_of(record, "id"),
        text_of(record, "topic"),
        (sides[0], sides[1]),
        texts_of(record, "turns", least=1),
    )


def _contradictions(corpus: RolePlayCorpus) -> Sequence[str]:
    series = {each.id: each.series for each in corpus.characters}
    named = [(f"a line of {each.character}", each.character) for each in corpus.lines]
    for each in corpus.conversations:
        named += [(f"conversation {each.id}", character) for character in each.characters]
    unknown = [
        f"{where}: {character!r} is no character of the file"
        for where, character in named
        if character not in series
    ]
    mixed = [
        f"conversation {each.id}: its characters are of two series"
        for each in corpus.conversations
        if len({series.get(character) for character in each.characters}) == 2
    ]
    return list(dict.fromkeys(unknown)) + ([] if unknown else mixed)
