"""Win rate of a system in comparisons, a tie being half a win, and the shares behind it.

The share of wins, ties and losses over all comparisons of a system (Bradley & Terry 1952 count the
same wins; ties half as in Agresti 2002, section 10.6.3). The interval is Wilson's for clustered
shares (Dean & Pagano 2015), clustered by rater and by context at once (Cameron, Gelbach & Miller
2011; `analysis.stats.clustering`); a context is an item where none is named. Where a rater saw more
than two systems together, every pair of them counts.
"""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from analysis.comparisons.preferences import compared, no_interval, shares, win_intervals
from analysis.scores.question_ratings import QuestionRatings, questions
from analysis.stats.intervals import NONE
from analysis.tables.schema import RatingTable
from analysis.tables.tidy import tidy


def win_rate(ratings: RatingTable) -> pd.DataFrame:
    """Return a row per question of ranks and system."""
    rated = questions(ratings, "rank")
    return tidy("win_rate", (row for one in rated for row in _question_rows(one)))


def _question_rows(question: QuestionRatings) -> Iterator[dict[str, object]]:
    found = compared(question)
    if found is None:
        return
    ends = win_intervals(found)
    for index, row in enumerate(shares(found).to_dict("records")):
        rate = row["won"] + row["tied"] / 2
        low, high = ends[index]
        reason = no_interval(found, row["n"]) if ends[index] == NONE else None
        known = {str(name): value for name, value in row.items()}
        yield {
            **question.name,
            **known,
            "estimate": rate,
            "low": low,
            "high": high,
            "reason": reason,
        }
