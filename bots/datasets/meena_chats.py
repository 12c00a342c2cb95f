"""Chats of people with Meena, Mitsuku, XiaoIce and each other, as MEENA's authors released them.

Source: Adiwardana et al. 2020, the text files published with it: "<Name> Conversation <n>", a turn
a line as "Speaker: text", a blank line between chats. The side "self" is the system; in chats of
two people it is the second of them. A dialogue is named by its heading.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bots.dialogue import Dialogue, Utterance
from bots.line_files import BadLine, InvalidData, read_lines

HEADING = re.compile(r"(\S.*) Conversation (\d+)")
TURN = re.compile(r"([^:]{1,40}): ?(.*\S.*)")
HUMAN = "Human"


@dataclass
class _Chat:
    heading: str
    turns: list[tuple[str, str]] = field(default_factory=list)

    def dialogue(self) -> Dialogue:
        own = _own_side([speaker for speaker, _ in self.turns])
        turns = (Utterance("self" if who == own else "partner", text) for who, text in self.turns)
        return Dialogue(self.heading, tuple(turns))


def read(source: str) -> list[Dialogue]:
    """Read the file at this path. Raises InvalidData, naming everything wrong with the data."""
    path, found, problems = Path(source), list[_Chat](), list[str]()
    for number, line in enumerate(read_lines(path), start=1):
        try:
            _take(line, found)
        except BadLine as problem:
            problems.append(f"{path}, line {number}: {problem}")
    problems += [f"{path}: {each.heading} has no turns" for each in found if not each.turns]
    if not found and not problems:
        problems.append(f"{path}: no conversations")
    if problems:
        raise InvalidData(problems)
    return [each.dialogue() for each in found]


def _take(line: str, found: list[_Chat]) -> None:
    if not line.strip():
        return
    heading = HEADING.fullmatch(line.strip())
    if heading:
        if line.strip() in {each.heading for each in found[-1:]}:
            raise BadLine(f"is {line.strip()!r} for the second time")
        found.append(_Chat(line.strip()))
        return
    turn = TURN.fullmatch(line)
    if turn is None or not found:
        right = "Speaker: text" if found else "a heading such as Meena Conversation 1"
        raise BadLine(f"is {line[:40]!r}, but must be {right}")
    speakers = {who for who, _ in found[-1].turns} | {turn[1]}
    if len(speakers) > 2:
        raise BadLine(f"has the speaker {turn[1]!r}, the third of {found[-1].heading}")
    found[-1].turns.append((turn[1], turn[2].strip()))


def _own_side(speakers: Sequence[str]) -> str:
    """Return the speaker who is not human, or the second of two people."""
    others = [who for who in speakers if not who.startswith(HUMAN)]
    different = sorted(set(speakers))
    return others[0] if others else different[-1] if len(different) > 1 else ""
