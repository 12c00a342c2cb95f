"""Text layout of PERSONA-CHAT and ConvAI2, with and without personas and candidates.

Lines are numbered from 1 in each dialogue. First come "your persona: ..." (the side that is to be
learned) and "partner's persona: ...", then a line per exchange: partner's message, TAB, reply, and,
where there are candidates, TAB TAB candidates separated by "|". "__SILENCE__" stands for a message
where the reply opens the dialogue. Source: the released data of PERSONA-CHAT (Zhang et al. 2018)
and ConvAI2 (Dinan et al. 2019).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Literal

from bots.dialogue import Dialogue, Utterance
from bots.line_files import BadLine, InvalidData, read_lines
from bots.text.tokens import normalize_answer

OWN = "your persona:"
PARTNER = "partner's persona:"
SILENCE = "__SILENCE__"
Condition = Literal["none", "self", "their", "both"]
TRIES = 1000


def read(source: str) -> list[Dialogue]:
    """Read the file at this path; dialogues are named by their position in it.

    Raises InvalidData, naming everything wrong with the data.
    """
    path, problems = Path(source), []
    found: list[_Growing] = []
    for number, line in enumerate(read_lines(path), start=1):
        try:
            _take(line, found)
        except BadLine as problem:
            problems.append(f"{path}, line {number}: {problem}")
    silent = [str(index) for index, each in enumerate(found, start=1) if not each.turns]
    problems += [f"{path}: dialogue {index} has no messages" for index in silent]
    if not found and not problems:
        problems.append(f"{path}: no dialogues")
    if problems:
        raise InvalidData(problems)
    return [each.dialogue(str(index)) for index, each in enumerate(found, start=1)]


@dataclass
class _Growing:
    """A dialogue that is being read."""

    lines: int = 0
    own: list[str] = field(default_factory=list)
    partner: list[str] = field(default_factory=list)
    turns: list[Utterance] = field(default_factory=list)

    def dialogue(self, name: str) -> Dialogue:
        return Dialogue(name, tuple(self.turns), tuple(self.own), tuple(self.partner))


def _take(line: str, found: list[_Growing]) -> None:
    if not line.strip():
        return
    numbered = re.match(r"(\d+) (.*)", line)
    if numbered is None:
        if found:
            found[-1].lines += 1
        raise BadLine(f"must begin with a number and a space, is {line[:40]!r}")
    number, rest = int(numbered[1]), numbered[2]
    if number == 1:
        found.append(_Growing())
    expected = found[-1].lines + 1 if found else 1
    if found:
        found[-1].lines = number
    if number != expected:
        raise BadLine(f"is numbered {number}, but must be {expected}, or 1 for a new dialogue")
    _fill(found[-1], rest)


def _fill(growing: _Growing, rest: str) -> None:
    for start, persona in ((OWN, growing.own), (PARTNER, growing.partner)):
        if rest.startswith(start):
            sentence = rest.removeprefix(start).strip()
            if growing.turns or not sentence:
                raise BadLine(f"{start} must have a sentence and stand before all messages")
            persona.append(sentence)
            return
    growing.turns += _exchange(rest.split("\t"))


def _exchange(fields: Sequence[str]) -> Iterator[Utterance]:
    message, reply, nothing, candidates, *more = [*fields, "", "", ""][: max(4, len(fields))]
    if more or nothing.strip() or not message.strip() or (candidates and not reply):
        raise BadLine(
            "must be message, TAB, reply, and where there are candidates TAB, TAB, candidates; "
            f"is {len(fields)} fields beginning {message[:40]!r}"
        )
    if message != SILENCE:
        yield Utterance("partner", message)
    if reply:
        yield Utterance("self", reply, tuple(candidates.split("|")) if candidates else ())


def in_condition(dialogue: Dialogue, condition: Condition) -> Dialogue:
    """Return the dialogue with the personas of one of the four conditions, and no other."""
    own = dialogue.persona if condition in ("self", "both") else ()
    partner = dialogue.partner_persona if condition in ("their", "both") else ()
    return replace(dialogue, persona=own, partner_persona=partner)


def both_sides(dialogues: Sequence[Dialogue]) -> list[Dialogue]:
    """Return each dialogue as one side sees it, then as the other does, as files may hold them."""
    return [view for dialogue in dialogues for view in (dialogue, dialogue.swapped())]


def offered(dialogues: Sequence[Dialogue], seed: int, size: int = 20) -> list[Dialogue]:
    """Give each reply candidates from other dialogues, itself last, as ConvAI2's files do.

    Raises InvalidData if there are too few replies to draw from.
    """
    replies = [(each.id, turn.text) for each in dialogues for turn in each.turns]
    different = len({normalize_answer(text) for _, text in replies})
    if different < size:
        raise InvalidData([f"{different} different messages, but {size} candidates need as many"])
    chance = Random(seed)  # noqa: S311
    return [
        replace(
            each,
            turns=tuple(
                replace(turn, candidates=_drawn(each.id, turn.text, replies, size, chance))
                if turn.speaker == "self"
                else turn
                for turn in each.turns
            ),
        )
        for each in dialogues
    ]


def _drawn(
    dialogue: str, reply: str, replies: Sequence[tuple[str, str]], size: int, chance: Random
) -> tuple[str, ...]:
    drawn = {normalize_answer(reply): reply}
    for _ in range(TRIES * size):
        if len(drawn) == size:
            return (*list(drawn.values())[1:], reply)
        where, text = chance.choice(replies)
        if where != dialogue and "|" not in text:
            drawn.setdefault(normalize_answer(text), text)
    raise InvalidData([f"dialogue {dialogue}: other dialogues have too few different messages"])


def write(dialogues: Sequence[Dialogue], path: Path) -> None:
    """Write the file, or name the dialogues that this layout cannot hold.

    Raises InvalidData, naming what the layout cannot hold.
    """
    problems = [problem for dialogue in dialogues for problem in _unfit(dialogue)]
    if problems:
        raise InvalidData(problems)
    lines = [line for dialogue in dialogues for line in _numbered(dialogue)]
    path.write_text("".join(line + "\n" for line in lines), "utf-8")


def _unfit(dialogue: Dialogue) -> Iterator[str]:
    speakers = [turn.speaker for turn in dialogue.turns]
    if any(one == other for one, other in pairwise(speakers)):
        yield f"dialogue {dialogue.id}: messages must alternate"
    for text in _texts(dialogue):
        if {*"\t\r\n"} & {*text}:
            yield f"dialogue {dialogue.id}: a text has a TAB or a line break: {text[:40]!r}"


def _texts(dialogue: Dialogue) -> Iterator[str]:
    yield from dialogue.persona
    yield from dialogue.partner_persona
    for turn in dialogue.turns:
        yield turn.text
        yield from turn.candidates


def _numbered(dialogue: Dialogue) -> Iterator[str]:
    lines = [f"{OWN} {sentence}" for sentence in dialogue.persona]
    lines += [f"{PARTNER} {sentence}" for sentence in dialogue.partner_persona]
    lines += _exchanges(dialogue.turns)
    for number, line in enumerate(lines, start=1):
        yield f"{number} {line}"


def _exchanges(turns: Sequence[Utterance]) -> Iterator[str]:
    message = SILENCE
    for index, turn in enumerate(turns):
        if turn.speaker == "self":
            offered = "\t\t" + "|".join(turn.candidates) if turn.candidates else ""
            yield f"{message}\t{turn.text}{offered}"
        elif index == len(turns) - 1:
            yield turn.text
        message = turn.text
