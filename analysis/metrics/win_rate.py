"""Win rate of a system in comparisons, a tie being half a win, and the shares behind it.

The share of wins, ties and losses over all comparisons of a system (Bradley & Terry 1952 count the
same wins; ties half as in Agresti 2002, section 10.6.3). The interval is a percentile bootstrap
over raters (Efron & Tibshirani 1993, ch. 13). Where a rater saw more than two systems together,
every pair of them counts.
"""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from analysis.comparisons.preferences import compared, shares, win_intervals
from analysis.scores.question_ratings import QuestionRatings, questions
from analysis.stats.intervals import NONE
from analysis.tables.schema import RatingTable
from analysis.tables.tidy import tidy

ONE_RATER = "one rater only: no interval over raters"


def win_rate(ratings: RatingTable, *, seed: int = 0) -> pd.DataFrame:
    """Return a row per question of ranks and system."""
    rated = questions(ratings, "rank")
    return tidy("win_rate", (row for one in rated for row in _question_rows(one, seed)))


def _question_rows(question: QuestionRatings, seed: int) -> Iterator[dict[str, object]]:
    found = compared(question)
    if found is None:
        return
    several = found.raters > 1
    ends = win_intervals(found, seed=seed) if several else [NONE] * len(found.systems)
    for index, row in enumerate(shares(found).to_dict("records")):
        rate = row["won"] + row["tied"] / 2
        low, high = ends[index]
        reason = None if several else ONE_RATER
        known = {str(name): value for name, value in row.items()}
        yield {
            **question.name,
            **known,
            "estimate": rate,
            "low": low,
            "high": high,
            "reason": reason,
        }
