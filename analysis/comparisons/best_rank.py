"""Order of entrants by their best rank over several metrics, of which each enters those it likes.

ConvAI2 (Dinan et al. 2019, section 2.5) sorts teams by their smallest rank over three metrics, ties
by the second smallest, then the third. A metric is ranked among those who entered it. The paper
does not say what breaks a tie with somebody who entered fewer: here what they left out stands in
the middle of all, which is neither best nor worst, and gives the printed order of all 23 teams.
Apart because any competition may sort its entrants so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # whoever has lists need not wait for pandas
    import pandas as pd


def best_ranks(scores: pd.DataFrame, *, lower_is_better: frozenset[str]) -> pd.Series:
    """Return the place of each row, from 1, equal for equal ranks; NaN scores are not entered."""
    import pandas as pd  # see above

    columns = {str(name): scores[name].astype(float).tolist() for name in scores.columns}
    found = list_ranks(columns, len(scores), lower_is_better=lower_is_better)
    return pd.Series(found, scores.index, dtype="int64")


def list_ranks(
    scores: Mapping[str, Sequence[float]], entrants: int, *, lower_is_better: frozenset[str]
) -> list[int]:
    """Return the same of lists: metric to the score of each entrant, NaN where not entered."""
    ranks = [_ranked(column, name in lower_is_better) for name, column in scores.items()]
    keys = [_key([column[k] for column in ranks], (entrants + 1) / 2) for k in range(entrants)]
    order = sorted(keys)
    return [order.index(key) + 1 for key in keys]


def _ranked(column: Sequence[float], is_lower_better: bool) -> list[float]:
    """Return the rank of each score among those entered, from 1, equal ones the best of theirs."""
    order = sorted((each for each in column if each == each), reverse=not is_lower_better)
    return [order.index(each) + 1.0 if each == each else each for each in column]


def _key(ranks: list[float], middle: float) -> tuple[float, ...]:
    entered = sorted(rank for rank in ranks if rank == rank)  # NaN does not equal itself
    if not entered:
        return (float("inf"),)
    left_out = [middle] * (len(ranks) - len(entered))
    return (entered[0], *sorted([*entered[1:], *left_out]))
