"""Population fitted to a table: centers and variances of feelings behind the ratings given.

Variance components of rounded, clipped ratings are smaller than those of the feelings behind them.
By Stein's lemma (1981, Annals of Statistics 9) what an effect adds to the covariance of two ratings
is its variance times the squared slope of the mean rating, to first order; the total SD is that
whose rounded, clipped normal has the variance that was seen. Apart because the draws know no fit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from scipy import optimize

from analysis.scores.crossed import CrossedFit
from analysis.scores.incidence import RESIDUAL, Incidence, together
from analysis.scores.system_scores import ITEM, RATER, REPLY, TASTE, ScoredDesign
from analysis.self_test.population import AnswerScale, Floats, Population, answer_scale

# The most that effects take of the variance of feelings.
MOST = 0.9
WIDEST = 3.0


def population(design: ScoredDesign, values: Floats, fit: CrossedFit) -> Population:
    """Return the population that the fit of a design's ratings tells of."""
    shares = dict(zip(fit.names, np.maximum(fit.variances, 0.0).tolist(), strict=True))
    total = sum(shares.values())
    spread = {name: shares[name] / total for name in design.incidence.effects}
    errors = _uncertain(design.incidence, fit)
    uncertain = {name: error / total for name, error in errors.items()}
    scale = answer_scale(values, design.ends)
    return _population(design.incidence, scale, fit.mean, total, spread, uncertain)


def _population(
    incidence: Incidence, scale: AnswerScale, means: Floats, total: float,
    shares: Mapping[str, float], uncertain: Mapping[str, float],
) -> Population:  # fmt: skip
    """Return the population; `shares` are of the variance of ratings, `total`."""
    n = np.bincount(incidence.system).astype(float)
    sd = _sd(scale, means, total)
    centers = _centers(scale, means, sd, n)
    slope = float((scale.slope(centers, sd) * n).sum() / n.sum())
    stretch = total / max(slope, 1e-3) ** 2
    felt = {name: share * stretch for name, share in shares.items()}
    most = MOST * sd**2
    shrink = min(1.0, most / max(sum(felt.values()), 1e-300))
    felt = {name: value * shrink for name, value in felt.items()}
    errors = {name: min(value * stretch * shrink, most / 2) for name, value in uncertain.items()}
    noise = sd**2 - sum(felt.values())
    return Population(incidence.system, incidence.effects, centers, felt, noise, scale, errors)


def _uncertain(incidence: Incidence, fit: CrossedFit) -> dict[str, float]:
    """Return the standard error of each variance; at 0 that of its moment estimate (Rao 1971)."""
    at_zero = np.sqrt(2 * np.diag(np.linalg.inv(incidence.equations))) * fit.variances[0]
    known = np.sqrt(np.maximum(np.diag(fit.errors), 0.0))
    errors = np.where((fit.variances > 0) & (known > 0), known, at_zero)
    return {name: float(errors[k]) for k, name in enumerate(fit.names) if name != RESIDUAL}


def _sd(scale: AnswerScale, means: Floats, total: float) -> float:
    """Return the total SD of feelings; of yes and no it is 1, as it has no unit."""
    if scale.is_yes_no:
        return 1.0
    if np.isinf(scale.span):
        return float(np.sqrt(total))
    middle = np.array([means.mean()])

    def gap(sd: float) -> float:
        return float(scale.variance(_centers(scale, middle, sd, np.ones(1)), sd)[0]) - total

    low, high = scale.span / 400, WIDEST * scale.span
    if gap(low) >= 0 or gap(high) <= 0:
        return float(np.clip(np.sqrt(total), low, high))
    return float(optimize.brentq(gap, low, high, rtol=1e-3))


def _centers(scale: AnswerScale, means: Floats, sd: float, n: Floats) -> Floats:
    """Return where feelings lie whose mean rating is this; one at an end half an answer off it."""
    if np.isinf(scale.span):
        return means
    low, high = (np.full(len(means), end) for end in (scale.low, scale.high))
    off = scale.span * 0.5 / (n + 1)
    wanted = np.clip(means, scale.low + off, scale.high - off)
    low, high = low - 8 * sd, high + 8 * sd
    for _ in range(50):
        middle = (low + high) / 2
        under = scale.mean(middle, sd) < wanted
        low, high = np.where(under, middle, low), np.where(under, high, middle)
    return np.asarray((low + high) / 2)


def variants(of: Population) -> dict[str, Population]:
    """Return populations that break what the model assumes, by the words a report has for them."""
    total = of.noise + sum(of.variances.values())
    found = {}
    if RATER in of.effects:
        tastes = together(of.effects[RATER], of.system)
        found["tastes added"] = _with(of, TASTE, tastes, of.variances.get(TASTE, 0.0) + total / 10)
        if of.effects[RATER].max() > 1:
            found["one odd rater"] = replace(of, odd=1)
    for name in (ITEM, REPLY, "conversation"):
        if of.variances.get(name, 0.0) > 0:
            more = 4 * of.variances[name]
            found[f"{name} SD doubled"] = _with(of, name, of.effects[name], more)
            break
    if not np.isinf(of.scale.span):
        sd = float(np.sqrt(total))
        top = of.scale.high - 0.5 * (of.scale.step or 0.0) - of.centers.mean() - 0.25 * sd
        found["ceiling"] = replace(of, centers=of.centers + top)
    found["loss by quality"] = replace(of, lost=1.0)
    return found


def _with(of: Population, name: str, codes: np.ndarray, variance: float) -> Population:
    effects, known = {**of.effects, name: codes}, {**of.variances, name: variance}
    return replace(of, effects=effects, variances=known)
