"""Cohen's kappa (1960, Educational and Psychological Measurement 20, 37-46) of pairs of raters.

Of more than two raters it is the mean over pairs (Light 1971, Psychological Bulletin 76, 365-377).
Gaps: a pair is compared on the units that both judged. Pairs with fewer than two such units, and
pairs without a kappa because both gave one category only, are left out and counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from scipy import sparse

from analysis.raters import agreement
from analysis.raters.alpha import UNDEFINED
from analysis.raters.ballots import Ballots, of_part
from analysis.raters.kappas import Weights, agreement_weights, too_many
from analysis.scores.incidence import Ints
from analysis.scores.integer_codes import RowIndex
from analysis.scores.question_ratings import QuestionRatings
from analysis.stats.intervals import (
    NONE,
    Floats,
    Interval,
    bca_interval,
    bootstrap,
    by_content,
    t_interval,
)

SIMULATED_AS = ("cohen_kappa", "cohen_kappa_linear", "cohen_kappa_quadratic")

ROUNDING = 1e-12
# Counts of a resample, pairs by categories, up to which all resamples are counted: of few units
# more, as of many both intervals hold alike. Of 40 pairs on 1 to 5, 400 campaigns each, the delta
# method's held .87 (quadratic weights .75) with 20 units where the bootstrap's held .90 (.82), and
# .89 (.88) with 50 where it held .89 (.89).
CELLS, CELLS_OF_FEW, FEW_UNITS = 100, 1000, 50
# Numbers of resamples that are looked at together: they stay near the processor.
NEAR = 100_000
KINDS: dict[str, tuple[Weights, ...]] = {
    "nominal": ("identity",),
    "ordinal": ("identity", "linear", "quadratic"),
    "interval": ("quadratic",),
}


@dataclass(frozen=True)
class Pairwise:
    """The mean kappa of pairs of raters, and of how many pairs and units it is the mean."""

    estimate: float
    interval: Interval
    pairs: int
    """Pairs of raters that share a unit at all."""
    used: int
    units: int

    @property
    def undefined(self) -> str | None:
        """Why there is no kappa, if there is none."""
        if self.used:
            return None
        who = f"none of {self.pairs} pairs of raters has"
        who = "the two raters do not have" if self.pairs == 1 else who
        return (
            f"{who} two items or more in common on which different categories were given; "
            "krippendorff_alpha needs no pair of raters to share more than one item"
        )


def cohen(ballots: Ballots, kind: Weights = "identity") -> Pairwise:
    """Return Cohen's kappa of the two raters, or the mean over all pairs of them.

    The interval is by the delta method over units, which for two raters is the standard error of
    Fleiss, Cohen & Everitt 1969 (Psychological Bulletin 72, 323-327).
    """
    return _of_pairs(*shared(ballots), 1 - agreement_weights(ballots.values, kind))


def _of_pairs(met: int, rows: PairRows, apart: Floats) -> Pairwise:
    if len(rows.pair) == 0:
        return Pairwise(UNDEFINED, NONE, met, 0, 0)
    tables = _Tables(rows, apart)
    used = int(tables.known.sum())
    if used == 0:
        return Pairwise(UNDEFINED, NONE, met, 0, 0)
    mean = float(tables.kappas.mean())
    of = tables.known[rows.pair]
    influence = np.bincount(rows.unit[of], weights=tables.derivatives[of]) / used
    units = int(np.count_nonzero(np.bincount(rows.unit[of])))
    low, high = t_interval(mean, float(np.sqrt((influence**2).sum())), units - 1)
    return Pairwise(mean, Interval(low, min(high, 1.0)), met, used, units)


def cohen_rows(
    questions: Iterable[QuestionRatings], kind: Weights, *, seed: int
) -> Iterator[dict[str, object]]:
    """Yield a row per question and part: Cohen's kappa, or the reason why there is none."""
    for question in questions:
        for system, part in agreement.parts(question):
            made = partial(_rows_of, question, part, seed)
            of_kind = question.once(f"Cohen of {system}, {seed}", made)
            yield {**question.name, "system": system, **of_kind[kind]}


def _rows_of(
    question: QuestionRatings, part: RowIndex, seed: int
) -> dict[Weights, dict[str, object]]:
    """Return what a part's row says, with all weights at once: they share pairs and resamples."""
    sample = of_part(question, part)
    kinds = KINDS[question.level]
    reason = sample.votes.undefined or too_many(sample.votes)
    row: dict[str, object] = {"n": sample.votes.units, "reason": reason}
    if reason is not None:
        return dict.fromkeys(kinds, row)
    met, rows = shared(sample)
    apart = {kind: 1 - agreement_weights(sample.values, kind) for kind in kinds}
    found = {kind: _of_pairs(met, rows, apart[kind]) for kind in kinds}
    ends = _small_intervals(rows, apart, found, seed=seed)
    return {kind: {**row, **_columns(found[kind], ends[kind])} for kind in kinds}


def _columns(found: Pairwise, ends: Interval) -> dict[str, object]:
    return {
        "n": found.units,
        "estimate": found.estimate,
        "pairs": found.pairs,
        "low": ends.low,
        "high": ends.high,
        "pairs_used": found.used,
        "reason": found.undefined,
    }


def small_interval(ballots: Ballots, kind: Weights, found: Pairwise, *, seed: int) -> Interval:
    """Return the BCa bootstrap interval over units where these are few, else that of `cohen`.

    The delta method is for many units: with 20 its interval held .87 to .91 of the time.
    """
    apart = {kind: 1 - agreement_weights(ballots.values, kind)}
    return _small_intervals(shared(ballots)[1], apart, {kind: found}, seed=seed)[kind]


def _small_intervals(
    rows: PairRows, apart: Mapping[Weights, Floats], found: Mapping[Weights, Pairwise], *, seed: int
) -> dict[Weights, Interval]:
    ends = {kind: each.interval for kind, each in found.items()}
    few = [kind for kind, each in found.items() if each.used and each.units <= agreement.FEW]
    pairs = int(rows.pair.max(initial=-1)) + 1
    if not few:
        return ends
    most = CELLS_OF_FEW if found[few[0]].units < FEW_UNITS else CELLS
    if pairs * len(apart[few[0]]) > most:
        return ends
    weighed = _Weighed(rows, [apart[kind] for kind in few])
    # A row per resample, and a column per kind of weights.
    drawn = bootstrap(weighed.means, weighed.units, seed=seed).T
    ones = np.ones(weighed.units)
    left_out = weighed.means(1 - np.eye(weighed.units)).T
    for kind, values, without in zip(few, drawn, left_out, strict=True):
        ends[kind] = bca_interval(values, found[kind].estimate, without, ones, weighed.units)
    return ends


@dataclass(frozen=True, eq=False)
class PairRows:
    """A row per unit that two raters both judged: the pair, the unit, what each of them said."""

    pair: Ints
    unit: Ints
    first: Ints
    second: Ints


def shared(ballots: Ballots) -> tuple[int, PairRows]:
    """Return how many pairs share a unit, and the rows of those that share two or more."""
    order = np.argsort(ballots.unit * ballots.raters + ballots.rater)
    unit, rater = ballots.unit[order], ballots.rater[order]
    code = ballots.code[order].astype(np.int32)
    lags = range(1, int(np.bincount(unit).max(initial=0)))
    found = [np.flatnonzero(unit[lag:] == unit[:-lag]).astype(np.int32) for lag in lags]
    none = np.zeros(0, dtype=np.int32)
    first = np.concatenate([none, *found])
    second = np.concatenate([none, *(at + lag for at, lag in zip(found, lags, strict=True))])
    name = rater[first] * ballots.raters + rater[second]
    _, pair, times = np.unique(name, return_inverse=True, return_counts=True)
    often = times[pair] > 1
    first, second = first[often], second[often]
    kept = (np.cumsum(times > 1, dtype=np.int32) - 1)[pair[often]]
    return len(times), PairRows(kept, unit[first].astype(np.int32), code[first], code[second])


class _Tables:
    """The table of each pair, by its margins and its disagreement, seen and expected."""

    def __init__(self, rows: PairRows, apart: Floats) -> None:
        self.rows, self.apart = rows, apart
        self.count = int(rows.pair.max()) + 1
        self.units = np.bincount(rows.pair).astype(float)
        self.row_apart: Floats = apart[rows.first, rows.second]
        observed = np.bincount(rows.pair, weights=self.row_apart, minlength=self.count)
        self.observed = observed.astype(float)
        first, second = self._margin(rows.first), self._margin(rows.second)
        self.of_first: Floats = second @ apart
        self.of_second: Floats = first @ apart
        self.expected: Floats = (self.of_first * first).sum(axis=1)

    @cached_property
    def known(self) -> np.ndarray:
        return np.asarray(self.expected > ROUNDING)

    @property
    def kappas(self) -> Floats:
        """Return kappa of each pair that has one."""
        share = self.units[self.known] * self.observed[self.known] / self.expected[self.known]
        return np.asarray(1 - share)

    @property
    def derivatives(self) -> Floats:
        """Return how the pair's kappa changes with the weight of each row."""
        rows, of = self.rows, self.rows.pair
        expected = np.where(self.known, self.expected, 1.0)
        found = self.of_first[of, rows.first]
        found += self.of_second[of, rows.second]
        found *= (self.units * self.observed / expected**2)[of]
        found -= (self.observed / expected)[of]
        found -= (self.units / expected)[of] * self.row_apart
        return np.asarray(found)

    def _margin(self, codes: Ints) -> Floats:
        size = len(self.apart)
        cells = np.bincount(self.rows.pair * np.int64(size) + codes, minlength=self.count * size)
        return cells.reshape(self.count, size).astype(float)


class _Weighed:
    """The tables of pairs in resamples of units, each weighed by how often it was drawn.

    Units follow what was said of them, so that the order of a table's rows does not matter.
    """

    def __init__(self, rows: PairRows, aparts: Sequence[Floats]) -> None:
        self.aparts, self.pairs = aparts, int(rows.pair.max()) + 1
        unit = np.unique(rows.unit, return_inverse=True)[1]
        self.units = int(unit.max()) + 1
        size, pair, ones = len(aparts[0]), rows.pair.astype(np.int64), np.ones(len(unit))
        first, second = (
            self._counted(unit, pair * size + code, self.pairs * size, ones)
            for code in (rows.first, rows.second)
        )
        order = by_content(*np.hstack([first.toarray(), second.toarray()]).T)
        self.margins = [first[order], second[order]]
        self.met = self._counted(unit, rows.pair, self.pairs, np.ones(len(unit)))[order]
        by_row = [apart[rows.first, rows.second] for apart in aparts]
        self.observed = [self._counted(unit, rows.pair, self.pairs, one)[order] for one in by_row]

    def _counted(self, unit: Ints, cell: Ints, cells: int, weights: Floats) -> Any:
        """Return a row per unit and a column per cell."""
        return sparse.csr_array((weights, (unit, cell)), shape=(self.units, cells))

    def means(self, weights: Floats) -> Floats:
        """Return of each resample the mean kappa of the pairs that have one, by each distance."""
        size = max(1, NEAR // (self.pairs * len(self.aparts[0])))
        pieces = range(0, len(weights), size)
        return np.concatenate([self._means(weights[at : at + size]) for at in pieces])

    def _means(self, weights: Floats) -> Floats:
        # A row per resample and pair, which are multiplied faster than in three dimensions.
        shape = (len(weights) * self.pairs, len(self.aparts[0]))
        first, second = ((weights @ each).reshape(shape) for each in self.margins)
        met = weights @ self.met
        found = [
            self._mean(met * (weights @ observed), self._expected(first, second, apart, met.shape))
            for apart, observed in zip(self.aparts, self.observed, strict=True)
        ]
        return np.column_stack(found)

    @staticmethod
    def _expected(first: Floats, second: Floats, apart: Floats, shape: tuple[int, ...]) -> Floats:
        return np.asarray(np.einsum("ic,ic->i", first @ apart, second).reshape(shape))

    @staticmethod
    def _mean(observed: Floats, expected: Floats) -> Floats:
        known = expected > ROUNDING
        share = observed / np.where(known, expected, 1.0)
        with np.errstate(invalid="ignore"):
            return np.asarray(np.where(known, 1 - share, 0.0).sum(axis=1) / known.sum(axis=1))
