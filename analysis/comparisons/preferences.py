"""Comparisons and rankings of systems shown together, read off the rating table.

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
from numpy.typing import NDArray
from scipy import sparse

from analysis.comparisons.bradley_terry import PairCounts
from analysis.scores.question_ratings import QuestionRatings
from analysis.stats.intervals import DRAWS, PIECE, Floats, Interval, percentile_interval

SIMULATED_AS = ("win_rate",)

ACT = ["item", "rater"]
CACHED = 1 << 14


@dataclass(frozen=True, eq=False)
class Compared:
    """All pairs of one question: the numbers of both systems, of the rater, and who was better.

    `points` is 2 where the first shown won, 1 for a tie, 0 where it lost.
    """

    systems: tuple[str, ...]
    first: np.ndarray
    second: np.ndarray
    points: NDArray[np.int8]
    rater: np.ndarray

    def counts(self) -> PairCounts:
        """Count the outcomes of every ordered pair."""
        total = np.zeros(self._kinds, dtype=np.int64)
        # Pieces that stay in the processor's cache, unless there are more cells than that.
        piece = max(CACHED, self._kinds)
        for start in range(0, len(self.points), piece):
            total += np.bincount(self._cells(start, piece), minlength=self._kinds)
        return self._counts(total.astype(float))

    def of_resamples(self, weights: Floats) -> PairCounts:
        """Count them in each resample: a row of `weights` says how often each rater was drawn."""
        return self._counts((self._of_raters @ weights.T).T)

    def _counts(self, cells: Floats) -> PairCounts:
        size = len(self.systems)
        lost, tied, won = np.moveaxis(cells.reshape(*cells.shape[:-1], 3, size, size), -3, 0)
        return PairCounts(won, tied, lost)

    @property
    def _kinds(self) -> int:
        return 3 * len(self.systems) ** 2

    def _cells(self, start: int, piece: int) -> np.ndarray:
        """Return where each comparison is counted: its outcome, first and second system."""
        size, rows = len(self.systems), slice(start, start + piece)
        cell = np.multiply(self.points[rows], size, dtype=np.int64)
        cell += self.first[rows]
        cell *= size
        cell += self.second[rows]
        return cell

    @cached_property
    def _of_raters(self) -> Any:
        """Return a row per cell and a column per rater, whose sums a resample of raters needs."""
        where = (self._cells(0, len(self.points)), self.rater)
        ones = np.ones(len(self.rater))
        return sparse.csr_matrix((ones, where), shape=(self._kinds, self.raters))

    @property
    def raters(self) -> int:
        return int(self.rater.max()) + 1


def compared(question: QuestionRatings) -> Compared | None:
    """Return every pair that somebody compared, or None where nobody did."""
    rows = question.rows
    system, names = pd.factorize(rows["system"], sort=True)
    rater = pd.factorize(rows["rater"], sort=True)[0]
    first, second = _together(pd.factorize(rows["item"])[0] * (rater.max(initial=0) + 1) + rater)
    place = rows["place"].to_numpy(dtype=float)
    turned = (place[second] < place[first]) | (
        (place[second] == place[first]) & (system[second] < system[first])
    )
    first, second = np.where(turned, second, first), np.where(turned, first, second)
    # A system beside itself is no comparison, nor is one of which no order of places is known.
    kept = (system[first] != system[second]) & ~np.isnan(place[first] + place[second])
    first, second = first[kept], second[kept]
    if not len(first):
        return None
    points = (1 + np.sign(question.values[second] - question.values[first])).astype(np.int8)
    raters = np.unique(rater[first], return_inverse=True)[1]
    systems = tuple(str(name) for name in names)
    return Compared(systems, system[first], system[second], points, raters)


def _together(act: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows of every two that are of the same act."""
    order = np.argsort(act, kind="stable")
    act = act[order]
    found = [(order[:0], order[:0])]
    for lag in range(1, len(act)):
        index = np.flatnonzero(act[lag:] == act[:-lag])
        if not len(index):
            break
        found.append((order[index], order[index + lag]))
    first, second = (np.concatenate(part) for part in zip(*found, strict=True))
    return first, second


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


def resampled(raters: int, draws: int = DRAWS, *, seed: int, cells: int = 1) -> Iterator[Floats]:
    """Yield how often each rater was drawn (raters are what is independent), a row per draw.

    Rows come in pieces, so that neither many raters nor what is made of a draw fill the memory.
    """
    chance = np.random.default_rng(seed)
    size = max(1, PIECE // max(raters, cells))
    for done in range(0, draws, size):
        drawn = chance.integers(0, raters, (min(size, draws - done), raters))
        cell = drawn + raters * np.arange(len(drawn))[:, None]
        times = np.bincount(cell.ravel(), minlength=drawn.size)
        yield times.reshape(drawn.shape).astype(float)


def win_intervals(found: Compared, *, seed: int) -> list[Interval]:
    """Return percentile intervals of the win rates, ties half, over raters."""
    size = len(found.systems)
    points = np.concatenate([found.points, 2 - found.points]) / 2
    system = np.concatenate([found.first, found.second])
    rater = np.tile(found.rater, 2)
    shape = (found.raters, size)
    gained = sparse.csr_matrix((points, (rater, system)), shape=shape)
    met = sparse.csr_matrix((np.ones(len(points)), (rater, system)), shape=shape)
    with np.errstate(invalid="ignore", divide="ignore"):
        pieces = [(each @ gained) / (each @ met) for each in resampled(found.raters, seed=seed)]
    rates = np.concatenate(pieces)
    return [percentile_interval(rates[:, k], found.raters) for k in range(size)]


def positions(question: QuestionRatings) -> pd.DataFrame:
    """Return each ranking's rows: item, rater, system, position, and of how many.

    A tie shares the mean of its places; what was seen alone is left out.
    """
    rows = question.rows[["item", "rater", "system"]].copy()
    acts = question.rows["value"].astype(float).groupby([question.rows[name] for name in ACT])
    rows["position"] = acts.rank(method="average")
    rows["of"] = acts.transform("size")
    return rows[rows["of"] > 1].reset_index(drop=True)
