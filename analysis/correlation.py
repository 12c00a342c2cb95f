"""Correlation of paired values, and the fit of a straight line through one point per system."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import special, stats

from analysis.intervals import NONE, Floats, Interval, Z

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
class Line:
    """A straight line by least squares, and the share of variance that it explains."""

    slope: float
    intercept: float
    r2: float
    n: int
    reason: str | None = None


def pearson(x: ArrayLike, y: ArrayLike) -> Correlation:
    """Return Pearson's r, p by t with n - 2 degrees, Fisher's interval (1921, Metron 1)."""
    a, b = _paired(x, y)
    reason = _undefined(a, b)
    if reason is not None:
        return Correlation(UNDEFINED, UNDEFINED, len(a), reason=reason)
    return _tested(float(np.corrcoef(a, b)[0, 1]), len(a), 1.0)


def spearman(x: ArrayLike, y: ArrayLike) -> Correlation:
    """Return Pearson's r of average ranks, p by t (Spearman 1904).

    The interval is Fisher's with the variance of Bonett & Wright 2000, Psychometrika 65.
    """
    a, b = _paired(x, y)
    reason = _undefined(a, b)
    if reason is not None:
        return Correlation(UNDEFINED, UNDEFINED, len(a), reason=reason)
    r = float(np.corrcoef(stats.rankdata(a), stats.rankdata(b))[0, 1])
    return _tested(r, len(a), 1 + r * r / 2)


def line(x: ArrayLike, y: ArrayLike) -> Line:
    """Return the line through points, R² = 1 - SSE/SST; three points at least."""
    a, b = _paired(x, y)
    reason = _undefined(a, b)
    if reason is not None:
        return Line(UNDEFINED, UNDEFINED, UNDEFINED, len(a), reason)
    slope = float(((a - a.mean()) * (b - b.mean())).sum() / ((a - a.mean()) ** 2).sum())
    intercept = float(b.mean() - slope * a.mean())
    left = float(((b - intercept - slope * a) ** 2).sum())
    return Line(slope, intercept, 1 - left / float(((b - b.mean()) ** 2).sum()), len(a))


def _paired(x: ArrayLike, y: ArrayLike) -> tuple[Floats, Floats]:
    a, b = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    known = np.isfinite(a) & np.isfinite(b)
    return a[known], b[known]


def _undefined(a: Floats, b: Floats) -> str | None:
    if len(a) < 3:
        return f"{len(a)} pairs: three are needed"
    if np.ptp(a) == 0 or np.ptp(b) == 0:
        return "one side is always the same"
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
