"""Comparisons and rankings of systems shown together, read off the rating table.

A question of level "rank" has a row for each system that a rater saw of an item: `value` is its
position, 1 the best, a tie the same position twice; `place` is where it was shown. A side-by-side
is the case of two systems.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.comparisons.bradley_terry import PairCounts
from analysis.report import many
from analysis.scores.question_ratings import QuestionRatings
from analysis.stats.clustering import FEWEST, codes, error_of_mean
from analysis.stats.intervals import NONE, Floats, Interval, share_interval
from analysis.tables import cell_values

SIMULATED_AS = ("win_rate",)

ACT = ["item", "rater"]
CACHED = 1 << 14
ALONE = "nobody compared it with another system"
NOWHERE = (np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp))


@dataclass(frozen=True, eq=False)
class Compared:
    """All pairs of one question: the numbers of both systems, of the rater, and who was better.

    `points` is 2 where the first shown won, 1 for a tie, 0 where it lost; `rows` are the rows of
    both in the question's answers.
    """

    systems: tuple[str, ...]
    first: np.ndarray
    second: np.ndarray
    points: NDArray[np.int8]
    rater: np.ndarray
    context: np.ndarray
    rows: tuple[np.ndarray, np.ndarray] = NOWHERE

    def counts(self) -> PairCounts:
        """Count the outcomes of every ordered pair."""
        total = np.zeros(self._kinds, dtype=np.int64)
        # Pieces that stay in the processor's cache, unless there are more cells than that.
        piece = max(CACHED, self._kinds)
        for start in range(0, len(self.points), piece):
            total += np.bincount(self._cells(start, piece), minlength=self._kinds)
        return self._counts(total.astype(float))

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
    context = pd.factorize(contexts(rows).to_numpy()[first], sort=True)[0]
    systems = tuple(str(name) for name in names)
    return Compared(
        systems, system[first], system[second], points, raters, context, (first, second)
    )


def contexts(rows: pd.DataFrame) -> pd.Series:
    """Return what answers share beside the rater: the context, or the item where none is named."""
    item = rows["item"].astype(str)
    if "context" not in rows.columns:
        return item
    blank = rows["context"].map(cell_values.is_blank).to_numpy()
    return item.where(blank, "context " + rows["context"].astype(str))


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
    """Return a row per system: the shares of its comparisons that it won, tied and lost.

    NaN where it was compared with no other.
    """
    counts = found.counts()
    won = counts.won.sum(axis=1) + counts.lost.sum(axis=0)
    lost = counts.lost.sum(axis=1) + counts.won.sum(axis=0)
    tied = counts.tied.sum(axis=0) + counts.tied.sum(axis=1)
    total = won + tied + lost
    compared = np.where(total > 0, total, np.nan)
    return pd.DataFrame(
        {
            "system": found.systems,
            "n": total.astype(int),
            "won": won / compared,
            "tied": tied / compared,
            "lost": lost / compared,
        }
    )


def win_intervals(found: Compared) -> list[Interval]:
    """Return Wilson's intervals of the win rates, ties half, clustered by rater and by context.

    One for each system, in their order; none for a system that was compared with no other.
    """
    points = np.concatenate([found.points, 2 - found.points]) / 2
    system = np.concatenate([found.first, found.second])
    rater, context = np.tile(found.rater, 2), np.tile(found.context, 2)
    order = np.argsort(system, kind="stable")
    parts = np.split(order, np.cumsum(np.bincount(system, minlength=len(found.systems)))[:-1])
    return [_win_interval(points[own], rater[own], context[own]) for own in parts]


def no_interval(found: Compared, comparisons: int) -> str:
    """Return why a system has no interval, and what would give one."""
    return too_few(found.rater, found.context) if comparisons else ALONE


def too_few(rater: np.ndarray, context: np.ndarray) -> str:
    """Return why there is no interval, and what would give one."""
    return (
        f"{many(len(np.unique(rater)), 'rater')} and {many(len(np.unique(context)), 'context')}: "
        f"votes of {FEWEST} raters about {FEWEST} contexts are the fewest that have an interval"
    )


def _win_interval(points: Floats, rater: np.ndarray, context: np.ndarray) -> Interval:
    if not len(points):
        return NONE
    error = error_of_mean(points, codes(rater), codes(context))
    if error.clusters < FEWEST:
        return NONE
    mean = float(points.mean())
    worth = float(error.clusters) if error.se == 0 else float(len(points))
    return share_interval(mean, error.se, error.df, worth)


def positions(question: QuestionRatings) -> pd.DataFrame:
    """Return each ranking's rows: item, rater, system, position, and of how many.

    A tie shares the mean of its places; what was seen alone is left out.
    """
    rows = question.rows[["item", "rater", "system"]].copy()
    acts = question.rows["value"].astype(float).groupby([question.rows[name] for name in ACT])
    rows["position"] = acts.rank(method="average")
    rows["of"] = acts.transform("size")
    return rows[rows["of"] > 1].reset_index(drop=True)
