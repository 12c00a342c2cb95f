"""Turn effect: change of answers about messages from one turn of a conversation to the next.

The slope over turns within conversations (each conversation its own level, so that long ones with
other partners do not count as change): the sum over answers of (turn - its mean)(value - its mean)
by that of the squared first, means being the conversation's. Its standard error is that of a ratio
of sums, clustered by conversation and rater (`analysis.stats.clustering`); interval and two-sided p
are Student's, and `p_holm` is Holm's (1979) over the systems of a question. The papers have no such
test: MEENA (Adiwardana et al. 2020) pools all turns.
"""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd
from scipy import special

from analysis.conversations import turns
from analysis.scores.question_ratings import questions
from analysis.stats.clustering import error_of_ratio
from analysis.stats.intervals import t_interval
from analysis.stats.significance import holm
from analysis.tables.schema import RatingTable
from analysis.tables.tidy import tidy

ONE_TURN = "no conversation has answers about two messages"
NO_SPREAD = "all conversations change equally, so there is no interval"
FEW = "one conversation or rater only: no interval"


def turn_effect(ratings: RatingTable) -> pd.DataFrame:
    """Return a row per question about messages and system: the change per turn."""
    found: list[dict[str, object]] = []
    for question in questions(ratings, *turns.LEVELS):
        rows = turns.of_messages(question)
        if rows.empty:
            continue
        systems = [
            {**question.name, "system": str(system), **_row(part)}
            for system, part in rows.groupby("system", sort=True)
        ]
        found += _corrected(systems)
    return tidy("turn_effect", found)


def _row(rows: pd.DataFrame) -> dict[str, object]:
    conversations = rows.groupby("conversation")
    turn = (rows["turn"] - conversations["turn"].transform("mean")).to_numpy(dtype=float)
    value = (rows["value"] - conversations["value"].transform("mean")).to_numpy(dtype=float)
    row: dict[str, object] = {
        "n": len(rows),
        "conversations": conversations.ngroups,
        "reason": None,
    }
    below = turn**2
    if not below.any():
        return {**row, "reason": ONE_TURN}
    slope = float((turn * value).sum() / below.sum())
    error = error_of_ratio(turn * value, below, *turns.clusters(rows))
    row["estimate"] = slope
    if not error.se > 0:
        return {**row, "reason": NO_SPREAD if error.se == 0 else FEW}
    low, high = t_interval(slope, error.se, error.df)
    p = float(2 * special.stdtr(error.df, -abs(slope) / error.se))
    return {**row, "low": low, "high": high, "se": error.se, "p": p}


def _corrected(rows: list[dict[str, object]]) -> Iterator[dict[str, object]]:
    adjusted = holm([float(str(row.get("p", "nan"))) for row in rows])
    for row, p in zip(rows, adjusted, strict=True):
        yield {**row, "p_holm": p}
