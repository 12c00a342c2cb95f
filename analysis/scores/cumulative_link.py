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

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import combinations

import numpy as np
import scipy
from numpy.typing import NDArray
from scipy import sparse, special

from analysis.freed_memory import give_back
from analysis.scores.block_systems import (
    CLOSE_INVERSE,
    DENSE,
    MOST_DENSE,
    AllButLast,
    Factored,
    SymmetricPattern,
    inverse_at,
    largest_first,
    solve,
)
from analysis.scores.incidence import distinct
from analysis.scores.severity import Gaussian
from analysis.stats.intervals import Floats

Ints = NDArray[np.integer]
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
    few = _some(answers)
    model = _Model(answers, is_whole=few is answers)
    give_back(len(answers.values))
    known = model if few is answers else _Model(few)
    sds = _spreads(known) if model.names else np.zeros(0)
    model.start[: model.starts[2]] = known.start[: model.starts[2]]
    del known, few
    give_back(len(answers.values))
    return model.fitted(model.mode(sds), sds)


def _spreads(model: _Model) -> Floats:
    """Return the effects' SDs that maximize the likelihood, each between 0.001 and 20.

    SDs themselves are searched, in units in which the deviance bends alike: towards an SD of
    nothing it is flat in their logarithms, so a search would creep there.
    """
    start = np.full(len(model.names), 0.7)
    units = np.sqrt(model.bends(start)) / start

    def deviance(at: Floats) -> tuple[float, Floats]:
        sds = at / units
        value, slope = model.deviance(sds)
        return value, slope / at

    found = scipy.optimize.minimize(
        deviance,
        start * units,
        jac=True,
        method="L-BFGS-B",
        bounds=[(1e-3 * unit, 20.0 * unit) for unit in units],
        options={"ftol": CLOSE, "gtol": FLAT},
    )
    return np.atleast_1d(np.asarray(found.x / units, dtype=float))


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
    values: Ints
    levels: int

    @property
    def own(self) -> slice:
        """Where the group's parameters are."""
        return slice(self.first, self.first + self.count)

    @property
    def ahead(self) -> Ints:
        """Where each answer's parameter is."""
        return self.first + self.codes

    @cached_property
    def _cells(self) -> Ints:
        return self.codes.astype(np.int64) * self.levels + self.values

    def sums(self, weights: Floats) -> Floats:
        return _counted(self.codes, weights, self.count)

    def by_value(self, weights: Floats | None = None) -> Floats:
        return _counted(self._cells, weights, self.count * self.levels).reshape(-1, self.levels)

    @property
    def passed(self) -> NDArray[np.bool_]:
        """Which thresholds are an end of some answer, a row per level; the first is not sought."""
        if self.levels == 2:
            return np.zeros((self.count, 0), dtype=bool)
        table = self.by_value()
        return np.asarray(table[:, 1:-1] + table[:, 2:] > 0)


@dataclass(frozen=True, eq=False)
class _Point:
    """Parameters, what the posterior is there, and where each answer's ends are.

    With a and b for how far an answer's upper and lower threshold are above what it depends on:
    `over` is e^-a and `under` is e^b, both 0 at the ends of the scale; `gap` is e^(b-a), which
    depends on the value alone.
    """

    at: Floats
    over: Floats
    under: Floats
    gap: Floats
    height: float

    @property
    def weights(self) -> tuple[Floats, Floats]:
        """How F(a) and F(b) bend: F(1 - F) of each."""
        return self.over / (1 + self.over) ** 2, self.under / (1 + self.under) ** 2


class _Model:
    """The design: on what each answer's upper and lower threshold depend.

    Both fall by the answer's system and effects, its groups. From step to step only the numbers of
    the information change, so where they stand is found once.
    """

    def __init__(self, answers: OrderedAnswers, *, is_whole: bool = True) -> None:
        self.answers = answers
        self.names = list(answers.effects)
        inner = answers.levels - 2  # the first threshold is 0: it says where the scores are
        codes = [answers.system, *answers.effects.values()]
        counts = [answers.systems, *map(_count, answers.effects.values())]
        self.starts = np.cumsum([0, counts[0], inner, *counts[1:]])
        self.size = int(self.starts[-1])
        firsts = [0, *self.starts[2:-1].tolist()]
        values, levels = answers.values, answers.levels
        self.groups = [
            _Group(*each, values, levels) for each in zip(firsts, counts, codes, strict=True)
        ]
        self.counts = np.bincount(values, minlength=levels).astype(float)
        self.pairs = list(combinations(self.groups, 2))
        self.met = [_met(one, other) for one, other in self.pairs]
        self.passed = [group.passed for group in self.groups]
        # The information has the largest block first, as it is eliminated.
        last = None if is_whole else self._last()
        self.has_last = last is not None
        blocks = largest_first(np.diff(self.starts), last)
        self.sizes = [int(np.diff(self.starts)[k]) for k in blocks]
        self.order = np.concatenate([np.arange(*self.starts[k : k + 2]) for k in blocks])
        self.position = np.argsort(self.order)
        moved = self.position.astype(np.int32)
        met = [(moved[rows], moved[columns]) for rows, columns in self._positions()]
        met_rows, met_columns = (np.concatenate(each) for each in zip(*met, strict=True))
        self.pattern = SymmetricPattern(met_rows, met_columns, self.size)
        self.start = np.zeros(self.size)
        self.start[self.starts[1] : self.starts[2]] = np.arange(1, inner + 1)

    def _last(self) -> int | None:
        """Return the block to be left for last, without which the others have no two that meet.

        None where the equations left by one elimination are few, or there is no such block.
        """
        sizes = np.diff(self.starts)
        if sizes.sum() - sizes.max() <= DENSE:
            return None
        for k in sorted(range(2, len(sizes)), key=lambda k: int(sizes[k])):
            others = [group for group in self.groups[1:] if group.first != self.starts[k]]
            if self._are_nested(others):
                return k
        return None

    def _are_nested(self, groups: Sequence[_Group]) -> bool:
        """Tell whether each level of one effect is within one of the other, or there is but one."""
        return len(groups) == 1 or any(
            pair == tuple(groups) and len(both) <= max(one.count for one in groups)
            for pair, (both, _) in zip(self.pairs, self.met, strict=True)
        )

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

    def _sums(self, point: _Point) -> Iterator[Floats]:
        """Yield the numbers of the negative Hessian of log F(a) + log F(-b) + log(1 - e^(b-a)).

        Of the last only what is between thresholds is left: it depends on nothing else.
        """
        both = np.add(*point.weights)
        for group in self.groups:
            yield group.sums(both)
        for unique, inverse in self.met:
            yield _counted(inverse, both, len(unique))
        if self.answers.levels == 2:  # no threshold is sought
            yield np.zeros(0)
            return
        upper, lower = point.weights
        for group, passed in zip(self.groups, self.passed, strict=True):
            yield -(group.by_value(upper)[:, 1:-1] + group.by_value(lower)[:, 2:])[passed]
        curve = self.counts * point.gap / (1 - point.gap) ** 2
        yield (self._by_value(upper) + curve)[1:-1] + (self._by_value(lower) + curve)[2:]
        yield -curve[2:-1]

    def _by_value(self, weights: Floats) -> Floats:
        return _counted(self.answers.values, weights, self.answers.levels)

    def _prior(self, sds: Floats) -> Floats:
        """Return the prior precision of every parameter; thresholds are free."""
        sizes = np.diff(self.starts)
        precision = [PRIOR_SD**-2, 0.0, *(sds**-2.0)]
        return np.repeat(precision, sizes)

    def mode(self, sds: Floats) -> _Point:
        """Return the mode of the log posterior.

        Raises `NotConverged` where Newton's method finds no mode.
        """
        prior = self._prior(sds)
        now = self._point(self.start, prior)
        for _ in range(ITERATIONS):
            step = np.empty(self.size)
            step[self.order] = self._solving(now, prior)(self._gradient(now, prior)[self.order])
            give_back(len(self.answers.values))
            height, now = now.height, self._advance(now, step, prior)
            if now.height - height < TOLERANCE * (1 + abs(now.height)):
                self.start = now.at
                return now
        raise NotConverged("Newton's method found no mode")

    def _solving(
        self, point: _Point, prior: Floats, *, for_inverse: bool = False
    ) -> Callable[[Floats], Floats]:
        """Return what solves equations with the information at a point, in its order."""
        if not self.has_last:
            return partial(solve, self._information(point, prior), sizes=self.sizes)
        known = AllButLast(lambda: self._information(point, prior), self.sizes)
        return partial(known.solve, close=CLOSE_INVERSE) if for_inverse else known.solve

    def _advance(self, now: _Point, step: Floats, prior: Floats) -> _Point:
        """Go as far along a step as it goes up; thresholds must stay in order."""
        share = 1.0
        while share > 1e-10:
            tried = self._point(now.at + share * step, prior)
            if tried.height >= now.height:
                return tried
            share /= 2
        return now

    def _point(self, at: Floats, prior: Floats) -> _Point:
        inner = at[self.starts[1] : self.starts[2]]
        thresholds = np.concatenate([[-np.inf, 0.0], inner, [np.inf]])
        values, gap = self.answers.values, np.exp(-np.diff(thresholds))
        # Of steps too far, which are not taken.
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            felt = np.zeros(len(values))
            for group in self.groups:
                felt += at[group.ahead]
            np.exp(felt, out=felt)
            over, under = np.exp(-thresholds[1:])[values], np.exp(thresholds[:-1])[values]
            over *= felt
            under /= felt
            # F(a) F(-b) is 1 / (1 + e^-a) (1 + e^b), and e^-a e^b is the gap.
            both = gap[values]
            for part in (1.0, over, under):
                both += part
            likelihood = -float(np.log(both, out=both).sum())
        if (gap >= 1).any():
            return _Point(at, over, under, gap, -np.inf)
        likelihood += float(self.counts @ np.log1p(-gap))
        return _Point(at, over, under, gap, likelihood - 0.5 * float((prior * at**2).sum()))

    def _information(self, point: _Point, prior: Floats) -> sparse.csc_matrix:
        return self.pattern.matrix(self._sums(point), prior[self.order])

    def _gradient(self, point: _Point, prior: Floats) -> Floats:
        up, down = point.over / (1 + point.over), point.under / (1 + point.under)
        rate = self.counts * point.gap / (1 - point.gap)
        thresholds = (self._by_value(up) + rate)[1:-1] - (self._by_value(down) + rate)[2:]
        systems, *effects = (group.sums(down - up) for group in self.groups)
        return np.concatenate([systems, thresholds, *effects]) - prior * point.at

    def deviance(self, sds: Floats) -> tuple[float, Floats]:
        """Return minus twice the Laplace approximation of the SDs' log likelihood, and its slope.

        The slope is by the logarithms of the SDs.
        """
        value, mode, factor = self._approximated(sds)
        if factor.is_dense:
            return value, self._slope(sds, mode, factor)
        ahead = (sds * np.exp(APART * one) for one in np.eye(len(sds)))
        return value, np.array([(self._approximated(one)[0] - value) / APART for one in ahead])

    def _approximated(self, sds: Floats) -> tuple[float, _Point, Factored]:
        mode = self.mode(sds)
        information = self._information(mode, self._prior(sds))
        effects = np.diff(self.starts)[2:]
        scale = -float((effects * np.log(sds)).sum())
        factor = Factored(information, self.sizes, dense=MOST_DENSE)
        penalty = -0.5 * float(((sds / EFFECT_PRIOR_SD) ** 2).sum())
        value = mode.height + scale - 0.5 * factor.log_det + penalty
        return -2 * value, mode, factor

    def _slope(self, sds: Floats, mode: _Point, factor: Factored) -> Floats:
        """Return the slope of the deviance by log SDs.

        At the mode it is that of the prior and of the determinant; the latter also moves with the
        mode, which the SDs move (Skaug & Fournier 2006, Computational Statistics & Data Analysis
        51, 699-709).
        """
        variances = self._variances(factor)
        found = -((sds / EFFECT_PRIOR_SD) ** 2)
        pulls = np.zeros((self.size, len(sds)))
        for k, (first, last) in enumerate(zip(self.starts[2:-1], self.starts[3:], strict=True)):
            own, block = mode.at[first:last], slice(first, last)
            found[k] += float((own**2 + variances[block]).sum()) / sds[k] ** 2 - (last - first)
            pulls[block, k] = 2 * own / sds[k] ** 2
        moves = np.empty_like(pulls)
        moves[self.order] = factor.solve(pulls[self.order])
        return np.asarray(-2 * found + self._turned(mode, moves, factor))

    def _variances(self, factor: Factored) -> Floats:
        found = np.empty(self.size)
        found[self.order] = factor.variances
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

    def _turned(self, mode: _Point, moves: Floats, factor: Factored) -> Floats:
        """Return how the log determinant changes where the mode moves so."""
        of_upper, of_lower, of_both = self._forms(factor)
        gap = mode.gap
        p, q = 1 / (1 + mode.over), mode.under / (1 + mode.under)
        bent = (gap * (1 + gap) / (1 - gap) ** 3)[self.answers.values]
        apart = bent * (of_upper + of_lower - 2 * of_both)
        by_upper = p * (1 - p) * (1 - 2 * p) * of_upper - apart
        by_lower = q * (1 - q) * (1 - 2 * q) * of_lower + apart
        both = by_upper + by_lower
        found = -sum(group.sums(both) @ moves[group.own] for group in self.groups)
        if self.answers.levels > 2:
            inner = moves[self.starts[1] : self.starts[2]]
            found += self._by_value(by_upper)[1:-1] @ inner + self._by_value(by_lower)[2:] @ inner
        return np.asarray(found)

    def _forms(self, factor: Factored) -> tuple[Floats, Floats, Floats]:
        """Return x' M^-1 y of each answer: of its upper end, of its lower, of one and the other.

        An end is a threshold less what is felt, which both have in common.
        """
        felt = self._felt(factor)
        if self.answers.levels == 2:  # both ends are the one threshold
            return felt, felt, felt
        first, values = self.position[self.starts[1]] - factor.eliminated, self.answers.values
        numbers = [np.clip(values + k, 0, self.answers.levels - 3) for k in (-1, -2)]
        inner = [(values + k >= 0) & (values + k < self.answers.levels - 2) for k in (-1, -2)]
        own = [self.position[group.ahead] for group in self.groups]
        crossed = [sum(factor.reach[each, first + number] for each in own) for number in numbers]
        at = factor.inverse[first:, first:]
        upper, lower = (-each * is_inner for each, is_inner in zip(crossed, inner, strict=True))
        above, below = numbers
        return (
            felt + 2 * upper + inner[0] * at[above, above],
            felt + 2 * lower + inner[1] * at[below, below],
            felt + upper + lower + inner[0] * inner[1] * at[above, below],
        )

    def _felt(self, factor: Factored) -> Floats:
        """Return the variance of what each answer depends on beside thresholds."""
        known = self._variances(factor)
        found = sum(known[group.ahead] for group in self.groups)
        for (one, other), (both, inverse) in zip(self.pairs, self.met, strict=True):
            rows, columns = one.first + both // other.count, other.first + both % other.count
            found = found + 2 * factor.entries(self.position[rows], self.position[columns])[inverse]
        return np.asarray(found)

    def fitted(self, mode: _Point, sds: Floats) -> Fitted:
        """Return what was found under its names."""
        systems, known = self.answers.systems, int(self.starts[2])
        solve = self._solving(mode, self._prior(sds), for_inverse=True)
        covariance = inverse_at(solve, self.size, self.position[:known])
        joint = (covariance + covariance.T) / 2
        parts = np.split(mode.at, self.starts[1:-1])
        return Fitted(
            Gaussian(parts[0], joint[:systems, :systems]),
            joint,
            np.concatenate([[0.0], parts[1]]),
            {name: float(sd) for name, sd in zip(self.names, sds, strict=True)},
            dict(zip(self.names, parts[2:], strict=True)),
        )


def _met(one: _Group, other: _Group) -> tuple[Ints, NDArray[np.int32]]:
    """Return which parameters of both meet, and of each answer the place of its own."""
    both, index = distinct(one.codes.astype(np.int64) * other.count + other.codes)
    small = np.int32 if one.count * other.count < 2**31 else np.int64
    return both.astype(small), index.astype(np.int32)


def _counted(codes: Ints, weights: Floats | None, size: int) -> Floats:
    return np.bincount(codes, weights, size).astype(float, copy=False)


def _count(codes: Ints) -> int:
    return int(codes.max()) + 1
