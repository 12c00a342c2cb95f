"""Bayesian calibration of annotator bias (Kulikov et al. 2018, arXiv:1811.00907, section 4).

Model of the authors' released script: μ_i ~ Uniform(low, high), M_i ~ N(μ_i, 1), B_j ~ N(0, 1),
s ~ N(M_i + B_j, 1). Inference here: B is integrated out exactly, and the two blocks left, all μ
given M (truncated normals) and all M given μ (one joint normal), are drawn in turn in many chains
that start from the flat-prior posterior. Drawing all M at once removes the slow common shift of
models against annotators, and means are averages of exact conditional means (Rao-Blackwell), so
the Monte Carlo error is about 0.002 of a scale point.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from scipy import special

from analysis.scores.question_ratings import QuestionRatings
from analysis.scores.severity import Gaussian, Sums, fit, flat_scores, sums
from analysis.stats.intervals import LEVEL, Floats, Interval

SIMULATED_AS = ("calibrated_score",)

BURN_IN = 50
KEPT = 40
WORK = 20_000
FEWEST, MOST = 400, 4000


@dataclass(frozen=True, eq=False)
class Posterior:
    """Posterior of every system's score, in the order of `sums.systems`."""

    sums: Sums
    flat: Gaussian
    mean: Floats
    sd: Floats
    low: Floats
    high: Floats
    wins: Floats
    """wins[a, b] is P(M_a > M_b)."""

    def interval(self, system: int) -> Interval:
        return Interval(float(self.low[system]), float(self.high[system]))


def posterior(question: QuestionRatings, *, seed: int) -> Posterior:
    """Return the posterior of one question's systems; its scale ends must differ."""
    return question.once(f"posterior, {seed}", lambda: _posterior(question, seed))


def _posterior(question: QuestionRatings, seed: int) -> Posterior:
    totals = sums(question)
    flat = flat_scores(totals)
    found = _Gibbs(flat, question.ends, np.random.default_rng(seed)).run()
    tail = (1 - LEVEL) / 2
    low, high = np.quantile(found.scores, [tail, 1 - tail], axis=0)
    mean, between = found.centers.mean(axis=0), found.centers.var(axis=0)
    sd = np.sqrt(np.diag(found.covariance) + between)
    # Pairs grow with the square of the systems; their probabilities need fewer draws than that.
    thinned = found.centers[:: 1 + len(mean) ** 2 // 60]
    wins = _wins(thinned, found.covariance)
    return Posterior(totals, flat, mean, sd, low, high, wins)


def residual_sd(question: QuestionRatings) -> float | None:
    """Return the SD of ratings once systems and raters are accounted for, where it is known."""
    fitted = fit(sums(question))
    return None if fitted is None else fitted.residual


def unit_variance_note(question: QuestionRatings) -> str | None:
    """Return a warning where ratings spread far more, or less, than the model's SD of 1."""
    found = residual_sd(question)
    if found is None or 0.5 <= found <= 2:
        return None
    return (
        f"the residual SD of these ratings is {found:.3g}, the model assumes 1: "
        "read calibrated_score_learned instead"
    )


def undefined(question: QuestionRatings) -> str | None:
    """Return why no calibrated score exists, if none does."""
    low, high = question.ends
    if low < high:
        return None
    return f"every rating is {low:g} and no scale ends are given, so the scale is unknown"


def win_matrix(scores: Gaussian) -> Floats:
    """Return P(M_a > M_b) of jointly normal scores; .5 against itself."""
    return _wins(scores.mean[None, :], scores.covariance)


@dataclass(frozen=True, eq=False)
class _Draws:
    """Draws of all scores, the means they were drawn around, and their covariance there."""

    scores: Floats
    centers: Floats
    covariance: Floats


class _Gibbs:
    """Many chains at once, a row each."""

    def __init__(self, flat: Gaussian, ends: tuple[float, float], rng: Generator) -> None:
        precision = np.linalg.inv(flat.covariance)
        self.ends, self.rng, self.systems = ends, rng, len(flat.mean)
        self.covariance: Floats = np.linalg.inv(precision + np.eye(self.systems)).astype(float)
        self.root = np.linalg.cholesky(self.covariance)
        self.offset = self.covariance @ precision @ flat.mean
        chains = int(np.clip(WORK // self.systems, FEWEST, MOST))
        self.now = flat.mean + self._normal(chains) @ np.linalg.cholesky(flat.covariance).T

    def run(self) -> _Draws:
        for _ in range(BURN_IN):
            self._step()
        kept = [(self._step(), self.now) for _ in range(KEPT)]
        centers, scores = (np.concatenate(part) for part in zip(*kept, strict=True))
        return _Draws(scores, centers, self.covariance)

    def _step(self) -> Floats:
        means = _truncated_normal(self.rng, self.now, *self.ends)
        center: Floats = self.offset + means @ self.covariance
        self.now = center + self._normal(len(center)) @ self.root.T
        return center

    def _normal(self, chains: int) -> Floats:
        return self.rng.standard_normal((chains, self.systems))


def _truncated_normal(rng: Generator, center: Floats, low: float, high: float) -> Floats:
    """Draw from N(center, 1) between `low` and `high`.

    Most of what is drawn without the ends lies between them; only the rest costs quantiles.
    """
    drawn = center + rng.standard_normal(center.shape)
    outside = (drawn < low) | (drawn > high)
    drawn[outside] = _between(rng, center[outside], low, high)
    return drawn


def _between(rng: Generator, center: Floats, low: float, high: float) -> Floats:
    """Draw the same by the tail that keeps its digits."""
    flipped = center > (low + high) / 2
    near = np.where(flipped, low + high - center, center)
    over_low, over_high = special.ndtr(near - low), special.ndtr(near - high)
    share = over_high + rng.random(near.shape) * (over_low - over_high)
    drawn = np.clip(near - special.ndtri(share), low, high)
    return np.asarray(np.where(flipped, low + high - drawn, drawn))


def _wins(centers: Floats, covariance: Floats) -> Floats:
    """Return the mean over rows of P(M_a > M_b), M normal around each row of `centers`."""
    size = covariance.shape[0]
    variance = np.diag(covariance)
    spread = np.sqrt(np.maximum(variance[:, None] + variance[None, :] - 2 * covariance, 1e-300))
    result = np.full((size, size), 0.5)
    for a in range(size):
        for b in range(a):
            gaps = (centers[:, a] - centers[:, b]) / spread[a, b]
            result[a, b] = float(special.ndtr(gaps).mean())
            result[b, a] = 1 - result[a, b]
    return result
