"""Order of entrants by their best rank over several metrics, of which each enters those it likes.

ConvAI2 (Dinan et al. 2019, section 2.5) sorts teams by their smallest rank over three metrics, ties
by the second smallest, then the third. A metric is ranked among those who entered it. The paper
does not say what breaks a tie with somebody who entered fewer: here what they left out stands in
the middle of all, which is neither best nor worst, and gives the printed order of all 23 teams.
Apart because any competition may sort its entrants so.
"""

from __future__ import annotations

import pandas as pd


def best_ranks(scores: pd.DataFrame, *, lower_is_better: frozenset[str]) -> pd.Series:
    """Return the place of each row, from 1, equal for equal ranks; NaN scores are not entered."""
    ranks = pd.DataFrame(
        {
            name: scores[name].rank(method="min", ascending=name in lower_is_better)
            for name in scores.columns
        }
    )
    middle = (len(scores) + 1) / 2
    keys = [_key(row, middle) for row in ranks.to_numpy(dtype=float).tolist()]
    order = sorted(keys)
    return pd.Series([order.index(key) + 1 for key in keys], scores.index, dtype="int64")


def _key(ranks: list[float], middle: float) -> tuple[float, ...]:
    entered = sorted(rank for rank in ranks if rank == rank)  # NaN does not equal itself
    if not entered:
        return (float("inf"),)
    left_out = [middle] * (len(ranks) - len(entered))
    return (entered[0], *sorted([*entered[1:], *left_out]))
