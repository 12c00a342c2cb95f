"""Correlation of paired values, and the fit of a straight line through one point per system.

Pairs of one cluster, such as several systems' replies to one example, depend on each other: then p
and interval are of the influences of pairs, summed within clusters (CR2,
`analysis.stats.clustering`), on Fisher's scale; `docs/simulation.md` has how often they find what
is not there.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike
from scipy import special

from analysis.stats.clustering import Codes, error_of_mean, slope_t
from analysis.stats.intervals import NONE, Floats, Interval, Z, t_interval

SIMULATED_AS = ("correlation", "correlations", "learned_metric p")

UNDEFINED = float("nan")


@dataclass(frozen=True)
class Correlation:
    """A coefficient with its two-sided p and 95 % interval, or why there is none."""

    estimate: float
    p: float
    n: int
    interval: Interval = NONE
    reason: str | None = None


@dataclass(frozen=True)
class FittedLine:
    """A straight line by least squares, and the share of variance that it explains."""

    slope: float
    intercept: float
    r2: float
    n: int
    reason: str | None = None


def pearson(x: ArrayLike, y: ArrayLike, by: ArrayLike | None = None) -> Correlation:
    """Return Pearson's r, p by t with n - 2 degrees, Fisher's interval (1921, Metron 1).

    `by` names the clusters, where there are any.
    """
    a, b, of = _paired(x, y, by)
    reason = _undefined(a, b)
    if reason is not None:
        return Correlation(UNDEFINED, UNDEFINED, len(a), reason=reason)
    r = float(np.corrcoef(a, b)[0, 1])
    if of is None:
        return _tested(r, len(a), 1.0)
    one, other = ((side - side.mean()) / side.std() for side in (a, b))
    return _of_clusters(one, other, one * other - r * (one**2 + other**2) / 2, of)


def spearman(x: ArrayLike, y: ArrayLike, by: ArrayLike | None = None) -> Correlation:
    """Return Pearson's r of average ranks, p by t (Spearman 1904).

    The interval is Fisher's with the variance of Bonett & Wright 2000, Psychometrika 65. With
    clusters (`by`) influences are those of Croux & Dehon 2010, Statistical Methods & Applications
    19, 497-515.
    """
    a, b, of = _paired(x, y, by)
    reason = _undefined(a, b)
    if reason is not None:
        return Correlation(UNDEFINED, UNDEFINED, len(a), reason=reason)
    one, other = (scipy.stats.rankdata(side) / len(a) for side in (a, b))
    r = float(np.corrcoef(one, other)[0, 1])
    if of is None:
        return _tested(r, len(a), 1 + r * r / 2)
    influence = 12 * (one * other + _above(b, one) + _above(a, other))
    return _of_clusters(one, other, influence - influence.mean(), of)


def kendall_tau(x: Floats, y: Floats) -> float:
    """Return tau-b of few values (Kendall 1945, Biometrika 33); NaN where one side is constant.

    Not scipy.stats, which takes half a second to load.
    """
    one, other = (np.sign(side[:, None] - side) for side in (x, y))
    pairs = float((one**2).sum() * (other**2).sum())
    return float((one * other).sum()) / pairs**0.5 if pairs else UNDEFINED


def line(x: ArrayLike, y: ArrayLike) -> FittedLine:
    """Return the line through points, R² = 1 - SSE/SST; three points at least."""
    a, b, _ = _paired(x, y)
    reason = _undefined(a, b)
    if reason is not None:
        return FittedLine(UNDEFINED, UNDEFINED, UNDEFINED, len(a), reason)
    slope = float(((a - a.mean()) * (b - b.mean())).sum() / ((a - a.mean()) ** 2).sum())
    intercept = float(b.mean() - slope * a.mean())
    left = float(((b - intercept - slope * a) ** 2).sum())
    return FittedLine(slope, intercept, 1 - left / float(((b - b.mean()) ** 2).sum()), len(a))


def _paired(
    x: ArrayLike, y: ArrayLike, by: ArrayLike | None = None
) -> tuple[Floats, Floats, Codes | None]:
    """Return the pairs that are known, with their clusters where one of these has several."""
    a, b = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    known = np.isfinite(a) & np.isfinite(b)
    of = None if by is None else np.unique(np.asarray(by)[known], return_inverse=True)[1]
    several = of is not None and len(of) > int(of.max(initial=-1)) + 1
    return a[known], b[known], of if several else None


def _above(side: Floats, values: Floats) -> Floats:
    """Return for each place on a side the mean, over all, of the values at this place or above."""
    order = np.argsort(side, kind="stable")
    tail = np.cumsum(values[order][::-1])[::-1] / len(side)
    return np.asarray(tail[np.searchsorted(side[order], side)], dtype=float)


def _undefined(a: Floats, b: Floats) -> str | None:
    if len(a) < 3:
        return f"{len(a)} pairs: three are needed"
    if np.ptp(a) == 0 or np.ptp(b) == 0:
        return "one side is constant"
    return None


def _tested(r: float, n: int, variance: float) -> Correlation:
    r = float(np.clip(r, -1.0, 1.0))
    if abs(r) == 1:
        return Correlation(r, 0.0, n)
    t = r * np.sqrt((n - 2) / (1 - r * r))
    p = float(2 * special.stdtr(n - 2, -abs(t)))
    if n < 4:
        return Correlation(r, p, n)
    half = Z * np.sqrt(variance / (n - 3))
    low, high = np.tanh(np.arctanh(r) - half), np.tanh(np.arctanh(r) + half)
    return Correlation(r, p, n, Interval(float(low), float(high)))


def _of_clusters(one: Floats, other: Floats, influence: Floats, of: Codes) -> Correlation:
    """Return p of the slope of one side on the other, and an interval on Fisher's scale.

    `influence` is what each pair adds to the coefficient.
    """
    r, n = float(np.corrcoef(one, other)[0, 1]), len(one)
    if abs(r) >= 1 - 1e-12:
        return Correlation(float(np.clip(r, -1.0, 1.0)), 0.0, n)
    if int(of.max()) < 2:
        why = f"pairs are of {int(of.max()) + 1} clusters: three are needed"
        return Correlation(r, UNDEFINED, n, reason=why)
    t, df = slope_t(one, other, of)
    p = float(2 * special.stdtr(df, -abs(t)))
    error = error_of_mean(influence, of)
    low, high = t_interval(float(np.arctanh(r)), error.se / (1 - r * r), df)
    return Correlation(r, p, n, Interval(float(np.tanh(low)), float(np.tanh(high))))
