"""Rater severity: a linear model of scores with random rater effects.

A rating is s = M_system + B_rater + noise, B ~ N(0, severity²), noise ~ N(0, residual²). With a
flat prior on M everything is Gaussian and needs only sums: by rater, V⁻¹ is diagonal less a rank
of one. Variances can be estimated by maximizing the likelihood with M integrated out (restricted
maximum likelihood: Patterson & Thompson 1971, Biometrika 58; Searle et al. 1992, ch. 6).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
import scipy
from numpy.typing import NDArray

from analysis.scores.question_ratings import QuestionRatings
from analysis.stats.intervals import Floats

RATIOS = (1e-4, 1e4)
# Below this share of the squared ratings the residual is rounding error.
ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class Gaussian:
    """A joint normal distribution of the systems' scores."""

    mean: Floats
    covariance: Floats

    @property
    def sd(self) -> Floats:
        return np.sqrt(np.diag(self.covariance))


@dataclass(frozen=True, eq=False)
class Fit:
    """Scores with the two variances that the data themselves suggest."""

    scores: Gaussian
    severity: float
    residual: float
    separable: bool


@dataclass(frozen=True, eq=False)
class Sums:
    """All that the model needs of the ratings, which are centered at `center`."""

    systems: tuple[str, ...]
    pairs: Floats
    by_system: Floats
    by_rater: Floats
    squares: float
    center: float

    @property
    def n(self) -> Floats:
        return np.asarray(self.pairs.sum(axis=1), dtype=float)

    @property
    def degrees_of_freedom(self) -> int:
        return int(self.n.sum()) - len(self.systems)

    @property
    def raw(self) -> Floats:
        return self.by_system / self.n + self.center


def sums(question: QuestionRatings) -> Sums:
    """Return the sums of one question, systems in order of their scores, not of their names."""
    return question.once("sums", lambda: _sums(question))


def _sums(question: QuestionRatings) -> Sums:
    # In order of value, so that sums do not depend on the order of rows even in the last digit.
    order = np.argsort(question.values, kind="stable")
    values = question.values[order]
    center = float(values.mean())
    (system, names), (rater, raters) = (
        pd.factorize(question.rows[column], sort=True) for column in ("system", "rater")
    )
    system, rater = system[order], rater[order]
    cells = np.bincount(system * len(raters) + rater, minlength=len(names) * len(raters))
    pairs = cells.reshape(len(names), len(raters)).astype(float)
    unordered = Sums(
        systems=tuple(str(name) for name in names),
        pairs=pairs,
        by_system=np.bincount(system, values - center).astype(float),
        by_rater=np.bincount(rater, values - center).astype(float),
        squares=float(((values - center) ** 2).sum()),
        center=center,
    )
    return _ordered(unordered, np.argsort(flat_scores(unordered).mean, kind="stable"))


def flat_scores(sums: Sums, severity: float = 1.0, residual: float = 1.0) -> Gaussian:
    """Return the scores under a flat prior, exactly, for the two standard deviations given."""
    information, weighted, _ = equations(sums, (severity / residual) ** 2)
    covariance = np.asarray(np.linalg.inv(information), dtype=float)
    return Gaussian(covariance @ weighted + sums.center, residual**2 * covariance)


def fit(sums: Sums) -> Fit | None:
    """Return the fit by restricted maximum likelihood; None where ratings leave no residual."""
    if sums.degrees_of_freedom < 1 or _residual(sums, 0.0) ** 2 <= ROUNDING * (1 + sums.squares):
        return None
    ratio = _best_ratio(sums)
    residual = _residual(sums, ratio)
    if residual**2 <= ROUNDING * (1 + sums.squares):
        return None
    severity = residual * np.sqrt(ratio)
    separable = bool((sums.pairs.sum(axis=0) > 1).any())
    return Fit(flat_scores(sums, severity, residual), float(severity), residual, separable)


def _ordered(sums: Sums, order: NDArray[np.intp]) -> Sums:
    return Sums(
        systems=tuple(sums.systems[k] for k in order),
        pairs=sums.pairs[order],
        by_system=sums.by_system[order],
        by_rater=sums.by_rater,
        squares=sums.squares,
        center=sums.center,
    )


def equations(sums: Sums, ratio: float) -> tuple[Floats, Floats, float]:
    """Return X'V⁻¹X, X'V⁻¹s and s'V⁻¹s in units of the residual variance."""
    shrink = ratio / (1 + ratio * sums.pairs.sum(axis=0))
    information = np.diag(sums.n) - (sums.pairs * shrink) @ sums.pairs.T
    weighted = sums.by_system - sums.pairs @ (shrink * sums.by_rater)
    total = sums.squares - float(shrink @ sums.by_rater**2)
    return information, weighted, total


def _residual(sums: Sums, ratio: float) -> float:
    information, weighted, total = equations(sums, ratio)
    explained = float(weighted @ np.linalg.solve(information, weighted))
    return float(np.sqrt(max(total - explained, 0.0) / sums.degrees_of_freedom))


def _deviance(sums: Sums, ratio: float) -> float:
    """Return minus twice the restricted log likelihood, less a constant."""
    information, _, _ = equations(sums, ratio)
    spread = 2 * sums.degrees_of_freedom * np.log(max(_residual(sums, ratio), 1e-150))
    raters = np.log1p(ratio * sums.pairs.sum(axis=0)).sum()
    return float(spread + raters + np.linalg.slogdet(information)[1])


def _best_ratio(sums: Sums) -> float:
    """Return severity² / residual²; 0 where no other value fits better."""
    found = scipy.optimize.minimize_scalar(
        lambda log_ratio: _deviance(sums, float(np.exp(log_ratio))),
        bounds=tuple(np.log(RATIOS)),
        method="bounded",
        options={"xatol": 1e-6},
    )
    better = found.fun < _deviance(sums, 0.0) - 1e-8
    return float(np.exp(found.x)) if better else 0.0
