"""Asking and answering: the turns of a side of a conversation that ask, and those that answer.

ConvAI2 (Dinan et al. 2019, section 3.2.3) found that bots ask too many questions, without a measure
of balance; this one is ours. A turn asks where one of its sentences is a question. It answers where
the message before it is the other side's and asks, and one of its own sentences does not ask. A
turn may do both, or neither.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pandas as pd

from analysis.conversations.answered import Answered, is_answered, repeated
from analysis.conversations.transcripts import HUMAN, PARTNER, placed
from analysis.tables.schema import MessageTable
from analysis.text.questions import has_statement, questions


@dataclass(frozen=True)
class Turn:
    """One turn: its number among its side's, from 1, and what it does."""

    number: int
    asks: bool
    answers: bool
    questions: int
    answered: int  # of its questions, those whose answer had been given


@dataclass(frozen=True)
class AskingSide:
    """One side of one conversation about a system."""

    system: str
    question: str
    turns: tuple[Turn, ...]

    @property
    def asks(self) -> int:
        return sum(turn.asks for turn in self.turns)

    @property
    def answers(self) -> int:
        return sum(turn.answers for turn in self.turns)

    @property
    def balance(self) -> float | None:
        """The share of asking in all asking and answering, or None where there is neither."""
        both = self.asks + self.answers
        return self.asks / both if both else None


def asking_sides(messages: MessageTable, answered: Answered = is_answered) -> list[AskingSide]:
    """Return every side of every conversation, in an order that names do not change."""
    found = list(_sides(messages, answered))
    return sorted(found, key=lambda one: (one.system, one.question, *map(_order, one.turns)))


def _order(turn: Turn) -> tuple[int, ...]:
    return turn.questions, turn.answered, int(turn.asks), int(turn.answers)


def _sides(messages: MessageTable, answered: Answered) -> Iterator[AskingSide]:
    table = placed(messages)
    for _, rows in table.groupby("conversation", sort=False):
        lines = list(zip(rows["side"], rows["text"].astype(str), strict=True))
        for side, own in rows.groupby("side", sort=True):
            turns = tuple(_turns([(who == side, text) for who, text in lines], answered))
            first = own.iloc[0]
            yield AskingSide(str(first["about"]), str(first["question"]), turns)


def _turns(lines: list[tuple[bool, str]], answered: Answered) -> Iterator[Turn]:
    counts = iter(repeated(lines, answered))
    number, is_open = 0, False
    for own, text in lines:
        if own:
            number += 1
            asks, known = next(counts)
            yield Turn(number, asks > 0, is_open and has_statement(text), asks, known)
        is_open = not own and bool(questions(text))


def people(found: list[AskingSide]) -> list[AskingSide]:
    """Return the sides of people: among each other where there are such, else all partners."""
    among = [one for one in found if one.system == HUMAN]
    return among or [one for one in found if one.question == PARTNER]


def by_turn(found: list[AskingSide]) -> pd.DataFrame:
    """Return, per system, side and turn, how many sides came so far and the share that asks."""
    rows = [
        {"system": one.system, "side": one.question, "turn": turn.number, "asks": turn.asks}
        | {"answers": turn.answers}
        for one in found
        for turn in one.turns
    ]
    table = pd.DataFrame(rows, columns=["system", "side", "turn", "asks", "answers"])
    grouped = table.groupby(["system", "side", "turn"], sort=True)
    shares = grouped[["asks", "answers"]].mean()
    return shares.assign(conversations=grouped.size()).reset_index()
