"""What raters preferred among systems shown together: comparisons read off the rating table.

A question of level "rank" has a row for each system that a rater saw of an item: `value` is its
position, 1 the best, a tie the same position twice; `place` is where it was shown. A side-by-side
is the case of two systems.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from analysis.bradley_terry import Counts
from analysis.groups import Asked
from analysis.intervals import DRAWS, Floats, Interval, percentile_interval

ACT = ["item", "rater"]
# Of the system shown first.
OUTCOMES = ("won", "tied", "lost")


@dataclass(frozen=True, eq=False)
class Compared:
    """All pairs of one question: the numbers of both systems, of the rater, and who was better.

    `better` is 1 where the first shown won, .5 for a tie, 0 where it lost.
    """

    systems: tuple[str, ...]
    first: np.ndarray
    second: np.ndarray
    better: Floats
    rater: np.ndarray

    def counts(self, weights: Floats | None = None) -> Counts:
        """Count the outcomes of every ordered pair; each rater counts as often as weighted."""
        size = len(self.systems)
        counted = self._all if weights is None else weights @ self._of_raters
        return Counts(*np.asarray(counted, dtype=float).reshape(len(OUTCOMES), size, size))

    @cached_property
    def _cells(self) -> np.ndarray:
        """Return where each comparison is counted: its outcome, first and second system."""
        size = len(self.systems)
        outcome = len(OUTCOMES) - 1 - (2 * self.better).astype(np.int64)
        return np.asarray((outcome * size + self.first) * size + self.second)

    @cached_property
    def _all(self) -> Floats:
        cells = len(OUTCOMES) * len(self.systems) ** 2
        return np.bincount(self._cells, minlength=cells).astype(float)

    @cached_property
    def _of_raters(self) -> Any:
        """Return the counts of each rater, whose sums a resample of raters needs."""
        shape = (self.raters, len(OUTCOMES) * len(self.systems) ** 2)
        return sparse.csr_matrix((np.ones(len(self.rater)), (self.rater, self._cells)), shape=shape)

    @property
    def raters(self) -> int:
        return int(self.rater.max()) + 1


def compared(asked: Asked) -> Compared | None:
    """Return every pair that somebody compared, or None where nobody did."""
    columns = [*ACT, "system", "value", "place"]
    rows = asked.rows[columns].astype({"value": float, "place": float})
    names, rows["code"] = np.unique(rows["system"].astype(str), return_inverse=True)
    joined = rows.merge(rows, on=ACT, suffixes=("", "_other"))
    later = (joined["place"] < joined["place_other"]) | (
        (joined["place"] == joined["place_other"]) & (joined["code"] < joined["code_other"])
    )
    pairs = joined[later & (joined["code"] != joined["code_other"])]
    if pairs.empty:
        return None
    rater = np.unique(pairs["rater"].astype(str), return_inverse=True)[1]
    apart = pairs["value_other"].to_numpy(dtype=float) - pairs["value"].to_numpy(dtype=float)
    first, second = pairs["code"].to_numpy(), pairs["code_other"].to_numpy()
    return Compared(tuple(names.tolist()), first, second, (1 + np.sign(apart)) / 2, rater)


def shares(found: Compared) -> pd.DataFrame:
    """Return a row per system: the shares of its comparisons that it won, tied and lost."""
    counts = found.counts()
    won = counts.won.sum(axis=1) + counts.lost.sum(axis=0)
    lost = counts.lost.sum(axis=1) + counts.won.sum(axis=0)
    tied = counts.tied.sum(axis=0) + counts.tied.sum(axis=1)
    total = won + tied + lost
    return pd.DataFrame(
        {
            "system": found.systems,
            "n": total.astype(int),
            "won": won / total,
            "tied": tied / total,
            "lost": lost / total,
        }
    )


def resampled(found: Compared, draws: int = DRAWS, *, seed: int) -> Iterator[Floats]:
    """Yield for each draw how often each rater was drawn (raters are what is independent)."""
    chance = np.random.default_rng(seed)
    count = found.raters
    for _ in range(draws):
        yield np.bincount(chance.integers(0, count, count), minlength=count).astype(float)


def win_intervals(found: Compared, *, seed: int) -> list[Interval]:
    """Return percentile intervals of the win rates, ties half, over raters."""
    size = len(found.systems)
    points = np.concatenate([found.better, 1 - found.better])
    system = np.concatenate([found.first, found.second])
    rater = np.tile(found.rater, 2)
    shape = (found.raters, size)
    gained = sparse.csr_matrix((points, (rater, system)), shape=shape)
    met = sparse.csr_matrix((np.ones(len(points)), (rater, system)), shape=shape)
    weights = np.stack(list(resampled(found, seed=seed)))
    with np.errstate(invalid="ignore", divide="ignore"):
        rates = (weights @ gained) / (weights @ met)
    return [percentile_interval(rates[:, k], found.raters) for k in range(size)]


def positions(asked: Asked) -> pd.DataFrame:
    """Return each ranking's rows: item, rater, system, position, and of how many.

    A tie shares the mean of its places; what was seen alone is left out.
    """
    rows = asked.rows[["item", "rater", "system"]].copy()
    acts = asked.rows["value"].astype(float).groupby([asked.rows[name] for name in ACT])
    rows["position"] = acts.rank(method="average")
    rows["of"] = acts.transform("size")
    return rows[rows["of"] > 1].reset_index(drop=True)
