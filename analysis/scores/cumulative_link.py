"""Cumulative link model of ordered answers with random effects, by Laplace's approximation.

An answer y of 0..K-1 is at most k with probability F(c_k - eta), F logistic and
eta = M_system + effects of what else the answer depends on (rater, item, conversation), each normal
around 0 (McCullagh 1980, JRSS B 42, section 2; Agresti 2010, section 10.1). Thresholds may also
move from rater to rater, each on its own. Yes and no are the case of K = 2.

For given standard deviations of the effects the log posterior is concave, and its mode is found by
Newton's method; they themselves maximize the likelihood with the effects integrated out by
Laplace's approximation (Pinheiro & Chao 2006, JCGS 15, section 2). M is reported as normal around
the mode. Scores get a normal prior of SD 5 on the log-odds scale, so that a system whose answers
are all the same keeps a finite score; an effect's SD gets a half-normal prior of SD 2.

Long because the design, its slopes and the search for the spreads share their blocks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray
from scipy import sparse, special

from analysis.scores.block_systems import Factored, largest_first, solve
from analysis.scores.severity import Gaussian
from analysis.stats.intervals import Floats

Ints = NDArray[np.intp]
PRIOR_SD = 5.0
EFFECT_PRIOR_SD = 2.0
TOLERANCE = 1e-9
ITERATIONS = 100
MOST_FOR_SDS = 15_000
MOST_GROUPS = 1000
NODES = 31
THRESHOLDS = "thresholds"


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
    thresholds_by: str | None = None


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
        spread = float(np.sqrt(sum(sd**2 for name, sd in self.sds.items() if name != THRESHOLDS)))
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
    """Return the effects' SDs that maximize the likelihood, each between 0.001 and 20."""
    found = scipy.optimize.minimize(
        lambda logs: model.deviance(np.exp(logs)),
        np.full(len(model.names), np.log(0.7)),
        method="COBYQA",
        bounds=[(np.log(1e-3), np.log(20.0))] * len(model.names),
        options={"initial_tr_radius": 0.5, "final_tr_radius": 1e-2},
    )
    return np.asarray(np.exp(np.atleast_1d(found.x)), dtype=float)


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
        answers.thresholds_by,
    )


class _Model:
    """The design: what each answer's upper and lower threshold depend on."""

    def __init__(self, answers: OrderedAnswers) -> None:
        self.answers = answers
        self.names = list(answers.effects) + ([THRESHOLDS] if answers.thresholds_by else [])
        inner = answers.levels - 2  # the first threshold is 0: it says where the scores are
        sizes = [answers.systems, inner, *(_count(codes) for codes in answers.effects.values())]
        if answers.thresholds_by:
            sizes.append(_count(answers.effects[answers.thresholds_by]) * (answers.levels - 1))
        self.starts = np.cumsum([0, *sizes])
        self.size = int(self.starts[-1])
        self.order = largest_first(self.starts)
        upper, lower = answers.values, answers.values - 1
        self.has_upper, self.has_lower = upper < answers.levels - 1, lower >= 0
        self.upper = self._design(upper, self.has_upper)
        self.lower = self._design(lower, self.has_lower)
        # One matrix with the places of both, so that weights of answers give both at once.
        both = (self.upper + 1j * self.lower).tocsr()
        self.rows, self.ends = np.repeat(np.arange(len(upper)), np.diff(both.indptr)), both
        # Answers between both ends need a second row of it.
        middle = np.flatnonzero(self.has_upper & self.has_lower)
        self.between = self.lower[middle]
        self.between_rows = np.repeat(middle, np.diff(self.between.indptr))
        self.start = np.zeros(self.size)
        self.start[self.starts[1] : self.starts[2]] = np.arange(1, inner + 1)

    def _design(self, threshold: Ints, there: NDArray[np.bool_]) -> sparse.csr_matrix:
        """Return the rows that give threshold minus eta; empty where there is no threshold."""
        answers, rows = self.answers, np.flatnonzero(there)
        parts = [(rows, answers.system[rows], -1.0)]
        inner = rows[threshold[rows] > 0]
        parts.append((inner, self.starts[1] + threshold[inner] - 1, 1.0))
        for index, codes in enumerate(answers.effects.values(), start=2):
            parts.append((rows, self.starts[index] + codes[rows], -1.0))
        if answers.thresholds_by:
            moved = answers.effects[answers.thresholds_by][rows] * (answers.levels - 1)
            parts.append((rows, self.starts[-2] + moved + threshold[rows], 1.0))
        row = np.concatenate([part[0] for part in parts])
        column = np.concatenate([part[1] for part in parts])
        value = np.concatenate([np.full(len(part[0]), part[2]) for part in parts])
        return sparse.csr_matrix((value, (row, column)), shape=(len(there), self.size))

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
            step = solve(information, gradient, self.order)
            now, value, gained = self._advance(now, step, value, prior)
            if gained < TOLERANCE * (1 + abs(value)):
                self.start = now
                return now, self._slopes(now, prior)[1]
        raise NotConverged("Newton's method found no mode")

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
        return (
            np.where(self.has_upper, self.upper @ at, np.inf),
            np.where(self.has_lower, self.lower @ at, -np.inf),
        )

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
        gradient = self.upper.T @ up + self.lower.T @ down - prior * at
        at_upper = special.expit(a) * special.expit(-a) + curve
        at_lower = special.expit(b) * special.expit(-b) + curve
        information = self._weighted(at_upper, at_lower, curve) + sparse.diags(prior)
        return gradient, information.tocsc()

    def _weighted(self, at_upper: Floats, at_lower: Floats, crossed: Floats) -> sparse.csr_matrix:
        """Return the sum over answers of [u l] [[a, -c], [-c, b]] [u l]', by that matrix's root."""
        root = np.sqrt(at_upper)
        below = np.divide(crossed, root, out=np.zeros_like(root), where=root > 0)
        rest = np.sqrt(np.maximum(at_lower - below**2, 0))
        low = np.where(self.has_upper, -below, rest)[self.rows]
        first = root[self.rows] * self.ends.data.real + low * self.ends.data.imag
        second = rest[self.between_rows] * self.between.data
        stacked = sparse.vstack(
            [
                sparse.csr_matrix((data, of.indices, of.indptr), shape=of.shape)
                for data, of in ((first, self.ends), (second, self.between))
            ],
            format="csr",
        )
        return stacked.T @ stacked

    def deviance(self, sds: Floats) -> float:
        """Return minus twice the Laplace approximation of the log likelihood of the SDs."""
        mode, information = self.mode(sds)
        prior = self._prior(sds)
        effects = np.diff(self.starts)[2:]
        scale = -float((effects * np.log(sds)).sum())
        log_det = Factored(information, self.order).log_det
        penalty = -0.5 * float(((sds / EFFECT_PRIOR_SD) ** 2).sum())
        return -2 * (self._height(mode, prior) + scale - 0.5 * log_det + penalty)

    def fitted(self, mode: Floats, information: sparse.csc_matrix, sds: Floats) -> Fitted:
        """Return what was found under its names."""
        systems, known = self.answers.systems, int(self.starts[2])
        unit = np.eye(self.size, known)
        covariance = solve(information, unit, self.order)[:known]
        joint = (covariance + covariance.T) / 2
        parts = np.split(mode, self.starts[1:-1])
        return Fitted(
            Gaussian(parts[0], joint[:systems, :systems]),
            joint,
            np.concatenate([[0.0], parts[1]]),
            {name: float(sd) for name, sd in zip(self.names, sds, strict=True)},
            dict(zip(self.names, parts[2:], strict=True)),
        )


def _count(codes: Ints) -> int:
    return int(codes.max()) + 1
