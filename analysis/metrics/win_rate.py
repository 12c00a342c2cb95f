"""How often a system was preferred, with a tie as half a win, and the shares behind it.

The share of wins, ties and losses over all comparisons of a system (Bradley & Terry 1952 count the
same wins; ties half as in Agresti 2002, section 10.6.3). The interval is a percentile bootstrap
over raters (Efron & Tibshirani 1993, ch. 13). Where a rater saw more than two systems together,
every pair of them counts.
"""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from analysis.groups import Asked, questions
from analysis.intervals import NONE
from analysis.preferences import compared, shares, win_intervals
from analysis.tables import RatingTable
from analysis.tidy import tidy

ONE_RATER = "one rater only: no interval over raters"


def win_rate(ratings: RatingTable, *, seed: int = 0) -> pd.DataFrame:
    """Return a row per question of ranks and system."""
    asked = questions(ratings, "rank")
    return tidy("win_rate", (row for one in asked for row in _rows(one, seed)))


def _rows(asked: Asked, seed: int) -> Iterator[dict[str, object]]:
    found = compared(asked)
    if found is None:
        return
    several = found.raters > 1
    ends = win_intervals(found, seed=seed) if several else [NONE] * len(found.systems)
    for place, row in enumerate(shares(found).to_dict("records")):
        rate = row["won"] + row["tied"] / 2
        low, high = ends[place]
        reason = None if several else ONE_RATER
        known = {str(name): value for name, value in row.items()}
        yield {**asked.name, **known, "estimate": rate, "low": low, "high": high, "reason": reason}
