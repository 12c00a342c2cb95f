"""Ballots: who gave which category to which unit, for coefficients that depend on the raters.

That is Conger's kappa (1980, Psychological Bulletin 88, 322-328) and resamples of raters; pairs of
raters are compared in `analysis.raters.cohen`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from scipy import sparse

from analysis.raters import agreement
from analysis.raters.alpha import UNDEFINED
from analysis.raters.kappas import Weights, agreement_weights, all_times, estimate, percents
from analysis.raters.votes import Votes, of_codes
from analysis.scores.integer_codes import (
    Ints,
    RowIndex,
    Scale,
    coded,
    coded_question,
    scale_of,
    units,
)
from analysis.scores.question_ratings import QuestionRatings
from analysis.stats.intervals import NONE, Floats, Interval, by_content, percentile_interval

SIMULATED_AS = ("agreement over raters",)

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


def ballots(question: QuestionRatings, rows: pd.DataFrame, level: Scale | None = None) -> Ballots:
    """Return the ballots of some rows."""
    scale = level or scale_of(question)
    code, values = coded(question, rows, scale)
    rater = pd.factorize(rows["rater"])[0].astype(np.int64)
    return _ordered(Ballots(units(rows), rater, code, values, scale))


def of_part(question: QuestionRatings, part: RowIndex) -> Ballots:
    """Return the ballots of a part of a question's rows."""
    scale = scale_of(question)
    known = coded_question(question, scale)
    unit, rater = (
        pd.factorize(numbers[part])[0].astype(np.int64) for numbers in (known.unit, known.rater)
    )
    return _ordered(Ballots(unit, rater, known.code[part], known.values, scale))


def _ordered(ballots: Ballots) -> Ballots:
    """Return ballots whose raters follow what they said, not how they are called."""
    values = ballots.values[ballots.code]
    size = np.bincount(ballots.unit)
    mean = np.bincount(ballots.unit, weights=values) / size
    of_rating = (np.ones_like(values), values, values**2, values * mean[ballots.unit])
    columns = [np.bincount(ballots.rater, weights=w).astype(float) for w in of_rating]
    position = np.argsort(by_content(*(column.round(9) for column in columns)))
    return Ballots(
        ballots.unit, position[ballots.rater], ballots.code, ballots.values, ballots.level
    )


# --- chance by the categories that each rater uses ------------------------------------------------


def conger(ballots: Ballots, kind: Weights = "identity") -> float:
    """Return Conger's kappa; gaps as in Gwet 2014: shares of all that a rater said."""
    size = len(ballots.values)
    cells = np.bincount(ballots.rater * size + ballots.code, minlength=ballots.raters * size)
    used = cells.reshape(ballots.raters, size).astype(float)
    shares = used / used.sum(axis=1, keepdims=True)
    whole, near = shares.sum(axis=0), agreement_weights(ballots.values, kind)
    if ballots.raters < 2:
        return UNDEFINED
    # Pairs of different raters only: all pairs less those of a rater with itself.
    same = ((shares @ near) * shares).sum()
    chance = float((whole @ near @ whole - same) / (ballots.raters * (ballots.raters - 1)))
    if chance > 1 - 1e-12:
        return UNDEFINED
    return (estimate(ballots.votes, lambda v, d: percents(v, d, kind)) - chance) / (1 - chance)


# --- resamples of raters --------------------------------------------------------------------------


def rater_intervals(
    ballots: Ballots, statistics: Sequence[Callable[[Votes, Floats], Floats]], *, seed: int
) -> list[Interval]:
    """Return percentile bootstrap intervals over raters, items held fixed.

    A rater is drawn with all that they said, and two copies of a rater are no pair, so nobody
    agrees with themselves. With fewer than five raters there is no interval.
    """
    if ballots.raters < ENOUGH_RATERS or ballots.votes.units == 0:
        return [NONE for _ in statistics]
    rng = np.random.default_rng(seed)
    weigh = Weighing(ballots)
    draws = agreement.affordable(len(ballots.unit), RATER_DRAWS)
    found = np.full((draws, len(statistics)), UNDEFINED)
    for draw in found:
        drawn = rng.integers(ballots.raters, size=ballots.raters)
        votes = weigh(np.bincount(drawn, minlength=ballots.raters).astype(float))
        if votes.units:
            times = all_times(votes)[None, :]
            draw[:] = [statistic(votes, times)[0] for statistic in statistics]
    return [percentile_interval(column, ballots.raters) for column in found.T]


class Weighing:
    """The votes with raters weighed, a pattern for each unit; made once for many weights.

    A unit whose votes are all of one rater is a lone vote, spread as that rater's weights are.
    """

    def __init__(self, ballots: Ballots) -> None:
        self.ballots = ballots
        self.units = int(ballots.unit.max()) + 1
        cells = ballots.unit * len(ballots.values) + ballots.code
        found, self.cell = np.unique(cells, return_inverse=True)
        self.code = found % len(ballots.values)
        per_unit = np.bincount(found // len(ballots.values), minlength=self.units)
        self.starts = np.concatenate([[0], np.cumsum(per_unit)])

    def __call__(self, weight: Floats) -> Votes:
        ballots, each = self.ballots, weight[self.ballots.rater]
        data = np.bincount(self.cell, weights=each)
        shape = (self.units, len(ballots.values))
        counts = sparse.csr_array((data, self.code, self.starts), shape=shape)
        size = np.bincount(ballots.unit, weights=each)
        own = np.bincount(ballots.unit, weights=each**2).astype(float)
        shared = size**2 > own
        share = np.divide(1.0, size, out=np.zeros_like(size), where=(size > 0) & ~shared)
        lone = np.asarray(share @ counts, dtype=float)
        times = np.ones(int(shared.sum()))
        return Votes(counts[shared], times, ballots.values, ballots.level, lone, own[shared])
