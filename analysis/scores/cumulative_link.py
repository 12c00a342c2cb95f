"""Cumulative link model of ordered answers with random effects, by Laplace's approximation.

An answer y of 0..K-1 is at most k with probability F(c_k - eta), F logistic and
eta = M_system + effects of what else the answer depends on (rater, item, conversation), each normal
around 0 (McCullagh 1980, JRSS B 42, section 2; Agresti 2010, section 10.1). Yes and no are the case
of K = 2.

For given standard deviations of the effects the log posterior is concave, and its mode is found by
Newton's method; they themselves maximize the likelihood with the effects integrated out by
Laplace's approximation (Pinheiro & Chao 2006, JCGS 15, section 2). M is reported as normal around
the mode. Scores get a normal prior of SD 5 on the log-odds scale, so that a system whose answers
are all the same keeps a finite score; an effect's SD gets a half-normal prior of SD 2.

Long because the design, its slopes and the search for the spreads share their blocks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
import scipy
from numpy.typing import NDArray
from scipy import sparse, special

from analysis.scores.block_systems import (
    MOST_DENSE,
    Factored,
    SymmetricPattern,
    largest_first,
    solve,
)
from analysis.scores.severity import Gaussian
from analysis.stats.intervals import Floats

Ints = NDArray[np.intp]
PRIOR_SD = 5.0
EFFECT_PRIOR_SD = 2.0
TOLERANCE = 1e-9
ITERATIONS = 100
# The search for the SDs ends where the deviance falls by this share, or slopes no more than this.
CLOSE, FLAT = 1e-9, 1e-3
APART = 1e-3  # log SDs between which a slope is a difference
MOST_FOR_SDS = 15_000
MOST_GROUPS = 1000
NODES = 31


class NotConverged(ValueError):
    """No mode was found: the answers do not fit the model's shape."""


@dataclass(frozen=True, eq=False)
class OrderedAnswers:
    """Answers with the numbers of what each depends on; `levels` is K."""

    values: Ints
    levels: int
    system: Ints
    systems: int
    effects: Mapping[str, Ints]


@dataclass(frozen=True, eq=False)
class Fitted:
    """Scores of the systems in log-odds, thresholds, and how far each effect spreads.

    `joint` is the covariance of the scores, then of the thresholds after the first.
    """

    scores: Gaussian
    joint: Floats
    thresholds: Floats
    sds: Mapping[str, float]
    effects: Mapping[str, Floats]

    def shares_above(self, score: float) -> tuple[Floats, Floats]:
        """Return the probability of passing each threshold, for a new rater and item, and slopes.

        The effects are integrated out (Gauss-Hermite), so these are shares of all raters.
        """
        nodes, weights = np.polynomial.hermite_e.hermegauss(NODES)
        spread = float(np.sqrt(sum(sd**2 for sd in self.sds.values())))
        above = special.expit(score + spread * nodes[:, None] - self.thresholds)
        share = weights / weights.sum()
        return share @ above, share @ (above * (1 - above))


def fit(answers: OrderedAnswers) -> Fitted:
    """Return the fit; raise `NotConverged` where there is none.

    Of very many answers, those of some raters settle the effects' SDs; all settle the scores.
    """
    model = _Model(answers)
    few = _some(answers)
    known = model if few is answers else _Model(few)
    sds = _spreads(known) if model.names else np.zeros(0)
    model.start[: model.starts[2]] = known.start[: model.starts[2]]
    mode, information = model.mode(sds)
    return model.fitted(mode, information, sds)


def _spreads(model: _Model) -> Floats:
    """Return the effects' SDs that maximize the likelihood, each between 0.001 and 20.

    Logarithms of SDs are searched, in units in which the deviance bends alike.
    """
    start = np.full(len(model.names), np.log(0.7))
    units = np.sqrt(model.bends(np.exp(start)))

    def deviance(at: Floats) -> tuple[float, Floats]:
        value, slope = model.deviance(np.exp(at / units))
        return value, slope / units

    found = scipy.optimize.minimize(
        deviance,
        start * units,
        jac=True,
        method="L-BFGS-B",
        bounds=[(np.log(1e-3) * unit, np.log(20.0) * unit) for unit in units],
        options={"ftol": CLOSE, "gtol": FLAT},
    )
    return np.asarray(np.exp(np.atleast_1d(found.x) / units), dtype=float)


def _some(answers: OrderedAnswers) -> OrderedAnswers:
    """Return the answers of as many groups of the first effect as are enough, or all."""
    groups = next(iter(answers.effects.values()), np.arange(len(answers.values)))
    share = min(MOST_FOR_SDS / len(groups), MOST_GROUPS / _count(groups))
    if share >= 1 or not answers.effects:
        return answers
    drawn = np.random.default_rng(0).random(int(groups.max()) + 1) < share
    rows = np.flatnonzero(drawn[groups])
    points, values = np.unique(answers.values[rows], return_inverse=True)
    if len(points) < answers.levels:
        return answers
    effects = {
        name: np.unique(codes[rows], return_inverse=True)[1]
        for name, codes in answers.effects.items()
    }
    return OrderedAnswers(
        values,
        answers.levels,
        answers.system[rows],
        answers.systems,
        effects,
    )


@dataclass(frozen=True, eq=False)
class _Group:
    """The system or one effect of each answer; its parameters begin at `first`."""

    first: int
    count: int
    codes: Ints

    def sums(self, weights: Floats) -> Floats:
        return _counted(self.codes, weights, self.count)

    def by_value(self, values: Ints, levels: int, weights: Floats | None = None) -> Floats:
        found = _counted(self.codes * levels + values, weights, self.count * levels)
        return found.reshape(-1, levels)


class _Model:
    """The design: on what each answer's upper and lower threshold depend.

    Both fall by the answer's system and effects, its groups. From step to step only the numbers of
    the information change, so where they stand is found once.
    """

    def __init__(self, answers: OrderedAnswers) -> None:
        self.answers = answers
        self.names = list(answers.effects)
        inner = answers.levels - 2  # the first threshold is 0: it says where the scores are
        codes = [answers.system, *answers.effects.values()]
        counts = [answers.systems, *map(_count, answers.effects.values())]
        self.starts = np.cumsum([0, counts[0], inner, *counts[1:]])
        self.size = int(self.starts[-1])
        # The information has the largest block first, as it is eliminated.
        self.order = largest_first(self.starts)
        self.sizes = sorted(np.diff(self.starts).tolist(), reverse=True)
        firsts = [0, *self.starts[2:-1].tolist()]
        self.groups = [_Group(*each) for each in zip(firsts, counts, codes, strict=True)]
        self.pairs = list(combinations(self.groups, 2))
        self.met = [
            np.unique(one.codes * other.count + other.codes, return_inverse=True)
            for one, other in self.pairs
        ]
        tables = [group.by_value(answers.values, answers.levels) for group in self.groups]
        self.passed = [table[:, 1:-1] + table[:, 2:] > 0 for table in tables]
        position = np.empty(self.size, dtype=np.intp)
        position[self.order] = np.arange(self.size)
        rows, columns = (np.concatenate(each) for each in zip(*self._positions(), strict=True))
        self.pattern = SymmetricPattern(position[rows], position[columns], self.size)
        self.start = np.zeros(self.size)
        self.start[self.starts[1] : self.starts[2]] = np.arange(1, inner + 1)

    def _positions(self) -> Iterator[tuple[Ints, Ints]]:
        """Yield rows and columns of the information, in the order of `_sums`."""
        for group in self.groups:
            own = group.first + np.arange(group.count)
            yield own, own
        for (one, other), (both, _) in zip(self.pairs, self.met, strict=True):
            yield one.first + both // other.count, other.first + both % other.count
        for group, passed in zip(self.groups, self.passed, strict=True):
            rows, thresholds = np.nonzero(passed)
            yield group.first + rows, self.starts[1] + thresholds
        thresholds = np.arange(self.starts[1], self.starts[2])
        yield thresholds, thresholds
        yield thresholds[1:], thresholds[:-1]

    def _sums(self, at_upper: Floats, at_lower: Floats, crossed: Floats) -> Iterator[Floats]:
        """Yield the sum over answers of [u l] [[a, -c], [-c, b]] [u l]', u and l their ends."""
        values, levels = self.answers.values, self.answers.levels
        above, below = at_upper - crossed, at_lower - crossed
        for group in self.groups:
            yield group.sums(above + below)
        for unique, inverse in self.met:
            yield _counted(inverse, above + below, len(unique))
        for group, passed in zip(self.groups, self.passed, strict=True):
            upper = group.by_value(values, levels, above)[:, 1:-1]
            yield -(upper + group.by_value(values, levels, below)[:, 2:])[passed]
        upper, lower = (_counted(values, each, levels) for each in (at_upper, at_lower))
        yield upper[1:-1] + lower[2:]
        yield -_counted(values, crossed, levels)[2:-1]

    def _prior(self, sds: Floats) -> Floats:
        """Return the prior precision of every parameter; thresholds are free."""
        sizes = np.diff(self.starts)
        precision = [PRIOR_SD**-2, 0.0, *(sds**-2.0)]
        return np.repeat(precision, sizes)

    def mode(self, sds: Floats) -> tuple[Floats, sparse.csc_matrix]:
        """Return the mode of the log posterior and its information there.

        Raises `NotConverged` where Newton's method finds no mode.
        """
        prior, now = self._prior(sds), self.start
        value = self._height(now, prior)
        for _ in range(ITERATIONS):
            gradient, information = self._slopes(now, prior)
            step = self._solved(information, gradient)
            now, value, gained = self._advance(now, step, value, prior)
            if gained < TOLERANCE * (1 + abs(value)):
                self.start = now
                return now, self._slopes(now, prior)[1]
        raise NotConverged("Newton's method found no mode")

    def _solved(self, information: sparse.csc_matrix, right: Floats) -> Floats:
        found = np.empty_like(right)
        found[self.order] = solve(information, right[self.order], self.sizes)
        return found

    def _advance(
        self, now: Floats, step: Floats, value: float, prior: Floats
    ) -> tuple[Floats, float, float]:
        """Go as far along a step as it goes up; thresholds must stay in order."""
        share = 1.0
        while share > 1e-10:
            tried = self._height(now + share * step, prior)
            if tried >= value:
                return now + share * step, tried, tried - value
            share /= 2
        return now, value, 0.0

    def _ends(self, at: Floats) -> tuple[Floats, Floats]:
        """Return how far each answer's upper and lower threshold is above what it depends on."""
        inner = at[self.starts[1] : self.starts[2]]
        thresholds = np.concatenate([[-np.inf, 0.0], inner, [np.inf]])
        felt = sum(at[group.first + group.codes] for group in self.groups)
        values = self.answers.values
        return thresholds[values + 1] - felt, thresholds[values] - felt

    def _height(self, at: Floats, prior: Floats) -> float:
        a, b = self._ends(at)
        if (a <= b).any():
            return -np.inf
        likelihood = special.log_expit(a) + special.log_expit(-b) + np.log1p(-np.exp(b - a))
        return float(likelihood.sum() - 0.5 * (prior * at**2).sum())

    def _slopes(self, at: Floats, prior: Floats) -> tuple[Floats, sparse.csc_matrix]:
        """Return gradient and negative Hessian of log F(a) + log F(-b) + log(1 - e^(b-a))."""
        a, b = self._ends(at)
        gap = np.exp(b - a)
        rate, curve = gap / (1 - gap), gap / (1 - gap) ** 2
        up, down = special.expit(-a) + rate, -special.expit(b) - rate
        at_upper = special.expit(a) * special.expit(-a) + curve
        at_lower = special.expit(b) * special.expit(-b) + curve
        sums = np.concatenate(list(self._sums(at_upper, at_lower, curve)))
        information = self.pattern.matrix(sums, prior[self.order])
        return self._gradient(up, down) - prior * at, information

    def _gradient(self, up: Floats, down: Floats) -> Floats:
        values, levels = self.answers.values, self.answers.levels
        thresholds = np.bincount(values, up, levels)[1:-1] + np.bincount(values, down, levels)[2:]
        systems, *effects = (group.sums(-(up + down)) for group in self.groups)
        return np.concatenate([systems, thresholds, *effects])

    def deviance(self, sds: Floats) -> tuple[float, Floats]:
        """Return minus twice the Laplace approximation of the SDs' log likelihood, and its slope.

        The slope is by the logarithms of the SDs.
        """
        value, mode, factor = self._approximated(sds)
        if factor.is_dense:
            return value, self._slope(sds, mode, factor)
        ahead = (sds * np.exp(APART * one) for one in np.eye(len(sds)))
        return value, np.array([(self._approximated(one)[0] - value) / APART for one in ahead])

    def _approximated(self, sds: Floats) -> tuple[float, Floats, Factored]:
        mode, information = self.mode(sds)
        prior = self._prior(sds)
        effects = np.diff(self.starts)[2:]
        scale = -float((effects * np.log(sds)).sum())
        factor = Factored(information, self.sizes, dense=MOST_DENSE)
        penalty = -0.5 * float(((sds / EFFECT_PRIOR_SD) ** 2).sum())
        value = self._height(mode, prior) + scale - 0.5 * factor.log_det + penalty
        return -2 * value, mode, factor

    def _slope(self, sds: Floats, mode: Floats, factor: Factored) -> Floats:
        """Return the slope of the deviance by log SDs.

        At the mode it is that of the prior and of the determinant; the latter also moves with the
        mode, which the SDs move (Skaug & Fournier 2006, Computational Statistics & Data Analysis
        51, 699-709).
        """
        variances = self._variances(factor)
        found = -((sds / EFFECT_PRIOR_SD) ** 2)
        pulls = np.zeros((self.size, len(sds)))
        for k, (first, last) in enumerate(zip(self.starts[2:-1], self.starts[3:], strict=True)):
            own, block = mode[first:last], slice(first, last)
            found[k] += float((own**2 + variances[block]).sum()) / sds[k] ** 2 - (last - first)
            pulls[block, k] = 2 * own / sds[k] ** 2
        moves = np.empty_like(pulls)
        moves[self.order] = factor.solve(pulls[self.order])
        return np.asarray(-2 * found + self._turned(mode, moves, factor))

    def _variances(self, factor: Factored) -> Floats:
        every = sparse.identity(self.size, format="csr")
        found = np.empty(self.size)
        found[self.order] = factor.forms(every, every)
        return found

    def bends(self, sds: Floats) -> Floats:
        """Return about how much the deviance bends by each log SD: 1 at least.

        As much as that of normal draws would, of which there are as many as the answers settle.
        """
        factor = self._approximated(sds)[2]
        if not factor.is_dense:
            return np.diff(self.starts)[2:].astype(float)
        known = self._variances(factor)
        found = []
        for sd, first, last in zip(sds, self.starts[2:-1], self.starts[3:], strict=True):
            settled = float((1 - known[first:last] / sd**2).sum())
            found.append(max(1.0, 4 * settled**2 / (last - first)))
        return np.array(found)

    def _turned(self, mode: Floats, moves: Floats, factor: Factored) -> Floats:
        """Return how the log determinant changes where the mode moves so."""
        upper, lower = self._predictors
        of_upper = of_lower = of_both = factor.forms(upper, upper)
        if self.answers.levels > 2:  # else both are the one threshold
            of_lower, of_both = factor.forms(lower, lower), factor.forms(upper, lower)
        a, b = self._ends(mode)
        p, q, gap = special.expit(a), special.expit(b), np.exp(b - a)
        bent = gap * (1 + gap) / (1 - gap) ** 3
        by_upper = p * (1 - p) * (1 - 2 * p) * of_upper - bent * (of_upper + of_lower - 2 * of_both)
        by_lower = q * (1 - q) * (1 - 2 * q) * of_lower + bent * (of_upper + of_lower - 2 * of_both)
        along = moves[self.order]
        return np.asarray(by_upper @ (upper.T @ along) + by_lower @ (lower.T @ along))

    @cached_property
    def _predictors(self) -> tuple[sparse.csr_matrix, sparse.csr_matrix]:
        """Return on what each answer's upper and lower threshold depend, a column per answer."""
        values, count = self.answers.values, len(self.answers.values)
        position = np.empty(self.size, dtype=np.intp)
        position[self.order] = np.arange(self.size)
        every = np.arange(count)
        felt = [(position[group.first + group.codes], every, -1.0) for group in self.groups]
        found = []
        for number in (values + 1, values):  # of the thresholds -inf, 0, those inside, inf
            inner = np.flatnonzero((number > 1) & (number < self.answers.levels))
            at = position[self.starts[1] + number[inner] - 2]
            rows, columns, signs = zip(*felt, (at, inner, 1.0), strict=True)
            numbers = np.repeat(signs, [len(each) for each in rows])
            positions = (np.concatenate(rows), np.concatenate(columns))
            found.append(sparse.csr_matrix((numbers, positions), shape=(self.size, count)))
        return found[0], found[1]

    def fitted(self, mode: Floats, information: sparse.csc_matrix, sds: Floats) -> Fitted:
        """Return what was found under its names."""
        systems, known = self.answers.systems, int(self.starts[2])
        unit = np.eye(self.size, known)
        covariance = self._solved(information, unit)[:known]
        joint = (covariance + covariance.T) / 2
        parts = np.split(mode, self.starts[1:-1])
        return Fitted(
            Gaussian(parts[0], joint[:systems, :systems]),
            joint,
            np.concatenate([[0.0], parts[1]]),
            {name: float(sd) for name, sd in zip(self.names, sds, strict=True)},
            dict(zip(self.names, parts[2:], strict=True)),
        )


def _counted(codes: Ints, weights: Floats | None, size: int) -> Floats:
    return np.bincount(codes, weights, size).astype(float, copy=False)


def _count(codes: Ints) -> int:
    return int(codes.max()) + 1
