"""Balance of asking and answering, and questions whose answer had already been given.

ConvAI2 (Dinan et al. 2019, sections 3.2.3 and 5) names both without a formula; rules in
`analysis/conversations/asking.py` and `answered.py`. `asking_balance` is turns that ask by turns
that ask plus turns that answer: 1 for a side that only asks, 0 for one that only answers, .5 for
one that does both equally. `distance_to_people` is the 1-Wasserstein distance (0 to 1) of the
balances of its conversations from those of people: of people among each other, where the table has
such conversations, else of all systems' partners. `already_answered` is the share of questions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

import pandas as pd
import scipy

from analysis.conversations.answered import Answered, is_answered
from analysis.conversations.asking import AskingSide, asking_sides, people
from analysis.conversations.transcripts import mean_per
from analysis.tables.schema import MessageTable
from analysis.tables.tidy import tidy

SIMULATED_AS = ("repeats",)  # shares of what is counted in conversations

NO_PEOPLE = "no conversation has turns of people that ask or answer"
NO_TURNS = "no turn asks or answers"


def asking(messages: MessageTable, *, answered: Answered = is_answered) -> pd.DataFrame:
    """Return three rows per system and side; `answered` tells of a question, given the messages."""
    found = asking_sides(messages, answered)
    theirs = _balances(people(found))
    rows: list[dict[str, object]] = []
    for (system, question), group in groupby(found, lambda one: (one.system, one.question)):
        about = {"protocol": "", "question": question, "system": system}
        rows += [{**about, **row} for row in _rows(list(group), theirs)]
    return tidy("asking", rows)


def _rows(sides: Sequence[AskingSide], theirs: Sequence[float]) -> Iterator[dict[str, object]]:
    sums = [(float(one.asks), float(one.asks + one.answers)) for one in sides]
    yield {"metric": "asking_balance", **mean_per(sums, most=1.0)}
    known = [
        (
            float(sum(turn.answered for turn in one.turns)),
            float(sum(t.questions for t in one.turns)),
        )
        for one in sides
    ]
    yield {"metric": "already_answered", **mean_per(known, most=1.0)}
    own = _balances(sides)
    row: dict[str, object] = {"metric": "distance_to_people", "n": len(own)}
    if own and theirs:
        yield {**row, "estimate": float(scipy.stats.wasserstein_distance(own, theirs))}
    else:
        yield {**row, "reason": NO_PEOPLE if own else NO_TURNS}


def _balances(sides: Sequence[AskingSide]) -> list[float]:
    return [one.balance for one in sides if one.balance is not None]
