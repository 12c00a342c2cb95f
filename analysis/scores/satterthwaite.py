"""Degrees of freedom of a score whose variance rests on estimated variances.

Satterthwaite's for a linear mixed model (Giesbrecht & Burns 1985, Biometrics 41, 477-486): twice
the squared variance of the score over the variance of that variance, which the curvature of the
restricted likelihood at its maximum gives (Searle et al. 1992, Variance Components, ch. 6). Apart
because the formula is that of a paper, beside the model whose variances it needs.
"""

from __future__ import annotations

import numpy as np

from analysis.scores.severity import Fit, Sums, equations
from analysis.stats.intervals import Floats

STEP = 1e-3


def freedom(sums: Sums, fitted: Fit) -> Floats:
    """Return the degrees of freedom of each system's score, 1 at least and at most the ratings'."""
    most = float(sums.degrees_of_freedom)
    noise = fitted.residual**2
    at = np.array([fitted.severity**2, noise])
    # A variance a little below 0 is still a likelihood, as long as no rater's total would be.
    busiest = float(sums.pairs.sum(axis=0).max())
    steps = noise * np.array([min(STEP, 0.1 / busiest), STEP])
    curvature = _curvature(sums, at, steps)
    if np.linalg.eigvalsh(curvature).min() <= 0:
        return np.full(len(sums.systems), max(1.0, min(most, sums.pairs.shape[1] - 1.0)))
    spread = 2 * np.linalg.inv(curvature)
    slopes = [
        (_variances(sums, at + step) - _variances(sums, at - step)) / (2 * step.sum())
        for step in np.diag(steps)
    ]
    changes = np.stack(slopes)
    doubt = np.einsum("ak,ab,bk->k", changes, spread, changes)
    return np.asarray(np.clip(2 * _variances(sums, at) ** 2 / doubt, 1.0, most), dtype=float)


def _variances(sums: Sums, at: Floats) -> Floats:
    information, _, _ = equations(sums, float(at[0] / at[1]))
    return np.asarray(at[1] * np.diag(np.linalg.inv(information)), dtype=float)


def _curvature(sums: Sums, at: Floats, steps: Floats) -> Floats:
    """Return the second derivatives of the deviance by differences."""
    moves = np.diag(steps)
    found = np.empty((2, 2))
    here = _deviance(sums, at)
    for k in (0, 1):
        sides = _deviance(sums, at + moves[k]) + _deviance(sums, at - moves[k])
        found[k, k] = (sides - 2 * here) / steps[k] ** 2
    corners = [
        _deviance(sums, at + a * moves[0] + b * moves[1]) * a * b for a in (1, -1) for b in (1, -1)
    ]
    found[0, 1] = found[1, 0] = sum(corners) / (4 * steps.prod())
    return found


def _deviance(sums: Sums, at: Floats) -> float:
    """Return minus twice the restricted log likelihood of both variances, less a constant."""
    ratio, noise = float(at[0] / at[1]), float(at[1])
    information, weighted, total = equations(sums, ratio)
    left = total - float(weighted @ np.linalg.solve(information, weighted))
    raters = float(np.log1p(ratio * sums.pairs.sum(axis=0)).sum())
    spread = sums.degrees_of_freedom * float(np.log(noise)) + left / noise
    return spread + raters + float(np.linalg.slogdet(information)[1])
