"""Ballots: who gave which category to which unit, for what depends on the raters themselves.

That is Conger's kappa (1980, Psychological Bulletin 88, 322-328) and resamples of raters; pairs of
raters are compared in `analysis.cohen`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import sparse

from analysis import agreement
from analysis.alpha import UNDEFINED
from analysis.coding import Ints, Places, Scale, coded, read, scale_of, units
from analysis.groups import Asked
from analysis.intervals import (
    NONE,
    Floats,
    Interval,
    by_content,
    percentile_interval,
)
from analysis.kappas import (
    Weights,
    agreement_weights,
    all_times,
    estimate,
    percents,
)
from analysis.votes import Votes, of_codes

RATER_DRAWS = 1000
ENOUGH_RATERS = 5


@dataclass(frozen=True, eq=False)
class Ballots:
    """A row per rating: its unit, its rater, its category, all counted from 0."""

    unit: Ints
    rater: Ints
    code: Ints
    values: Floats
    level: Scale

    @property
    def raters(self) -> int:
        return int(self.rater.max(initial=-1)) + 1

    @cached_property
    def votes(self) -> Votes:
        return of_codes(self.unit, self.code, self.values, self.level)


def ballots(asked: Asked, rows: pd.DataFrame, level: Scale | None = None) -> Ballots:
    """Return the ballots of some rows."""
    scale = level or scale_of(asked)
    code, values = coded(asked, rows, scale)
    rater = pd.factorize(rows["rater"])[0].astype(np.int64)
    return _ordered(Ballots(units(rows), rater, code, values, scale))


def of_part(asked: Asked, places: Places) -> Ballots:
    """Return the ballots of a part of a question's rows."""
    scale = scale_of(asked)
    known = read(asked, scale)
    unit, rater = (
        pd.factorize(numbers[places])[0].astype(np.int64) for numbers in (known.unit, known.rater)
    )
    return _ordered(Ballots(unit, rater, known.code[places], known.values, scale))


def of_matrix(matrix: ArrayLike, level: Scale = "nominal") -> Ballots:
    """Return ballots from a matrix of numbers, a row per rater and a column per unit, NaN: none."""
    given = np.asarray(matrix, dtype=float)
    rater, unit = np.nonzero(~np.isnan(given))
    values, code = np.unique(given[rater, unit], return_inverse=True)
    rater, unit = (np.unique(which, return_inverse=True)[1] for which in (rater, unit))
    return Ballots(unit, rater, code, values, level)


def _ordered(given: Ballots) -> Ballots:
    """Return ballots whose raters follow what they said, not how they are called."""
    said = given.values[given.code]
    size = np.bincount(given.unit)
    mean = np.bincount(given.unit, weights=said) / size
    of_rating = (np.ones_like(said), said, said**2, said * mean[given.unit])
    columns = [np.bincount(given.rater, weights=w).astype(float) for w in of_rating]
    place = np.argsort(by_content(*(column.round(9) for column in columns)))
    return Ballots(given.unit, place[given.rater], given.code, given.values, given.level)


# --- chance by the categories that each rater uses ------------------------------------------------


def conger(given: Ballots, kind: Weights = "identity") -> float:
    """Return Conger's kappa; gaps as in Gwet 2014: shares of all that a rater said."""
    size = len(given.values)
    cells = np.bincount(given.rater * size + given.code, minlength=given.raters * size)
    said = cells.reshape(given.raters, size).astype(float)
    shares = said / said.sum(axis=1, keepdims=True)
    whole, near = shares.sum(axis=0), agreement_weights(given.values, kind)
    if given.raters < 2:
        return UNDEFINED
    # Pairs of different raters only: all pairs less those of a rater with itself.
    same = ((shares @ near) * shares).sum()
    chance = float((whole @ near @ whole - same) / (given.raters * (given.raters - 1)))
    if chance > 1 - 1e-12:
        return UNDEFINED
    return (estimate(given.votes, lambda v, d: percents(v, d, kind)) - chance) / (1 - chance)


# --- resamples of raters --------------------------------------------------------------------------


def rater_intervals(
    given: Ballots, statistics: Sequence[Callable[[Votes, Floats], Floats]], *, seed: int
) -> list[Interval]:
    """Return percentile bootstrap intervals over raters, items held fixed.

    A rater is drawn with all that they said, and two copies of a rater are no pair, so nobody
    agrees with themselves. With fewer than five raters there is no interval.
    """
    if given.raters < ENOUGH_RATERS or given.votes.units == 0:
        return [NONE for _ in statistics]
    rng = np.random.default_rng(seed)
    weigh = Weighing(given)
    draws = agreement.affordable(len(given.unit), RATER_DRAWS)
    found = np.full((draws, len(statistics)), UNDEFINED)
    for draw in found:
        drawn = rng.integers(given.raters, size=given.raters)
        votes = weigh(np.bincount(drawn, minlength=given.raters).astype(float))
        if votes.units:
            times = all_times(votes)[None, :]
            draw[:] = [statistic(votes, times)[0] for statistic in statistics]
    return [percentile_interval(column, given.raters) for column in found.T]


class Weighing:
    """The votes with raters weighed, a pattern for each unit; made once for many weights.

    A unit whose votes are all of one rater is a lone vote, spread as that rater's weights are.
    """

    def __init__(self, given: Ballots) -> None:
        self.given = given
        self.units = int(given.unit.max()) + 1
        cells = given.unit * len(given.values) + given.code
        found, self.cell = np.unique(cells, return_inverse=True)
        self.code = found % len(given.values)
        per_unit = np.bincount(found // len(given.values), minlength=self.units)
        self.starts = np.concatenate([[0], np.cumsum(per_unit)])

    def __call__(self, weight: Floats) -> Votes:
        given, each = self.given, weight[self.given.rater]
        data = np.bincount(self.cell, weights=each)
        shape = (self.units, len(given.values))
        counts = sparse.csr_array((data, self.code, self.starts), shape=shape)
        size = np.bincount(given.unit, weights=each)
        own = np.bincount(given.unit, weights=each**2).astype(float)
        shared = size**2 > own
        share = np.divide(1.0, size, out=np.zeros_like(size), where=(size > 0) & ~shared)
        lone = np.asarray(share @ counts, dtype=float)
        times = np.ones(int(shared.sum()))
        return Votes(counts[shared], times, given.values, given.level, lone, own[shared])
