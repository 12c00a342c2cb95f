"""Significance tests that the papers name, and Holm's adjustment of their p values.

Two-sided binomial (classifiers against chance, PERSONA-METRICS: Miyazaki et al. 2021; win rates
against .5), Student's t (THRED: Dziri et al. 2019; Welch's by default), chi-square with phi.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import ArrayLike
from scipy import special

SIMULATED_AS = ("simple tests", "convai2_blind p")

STARS = ((0.001, "***"), (0.01, "**"), (0.05, "*"))
UNDEFINED = float("nan")


class Tested(NamedTuple):
    """A statistic, its degrees of freedom, the two-sided p, and an effect in its own unit."""

    statistic: float
    df: float
    p: float
    effect: float
    reason: str | None = None


def binomial(successes: int, n: int, chance: float = 0.5) -> Tested:
    """Return the exact two-sided test of a share against chance; the effect is their difference.

    Two-sided as in R: all outcomes no more probable than the one seen.
    """
    if n < 1:
        return Tested(UNDEFINED, UNDEFINED, UNDEFINED, UNDEFINED, "no trial")
    p = float(scipy.stats.binomtest(successes, n, chance).pvalue)
    return Tested(float(successes), UNDEFINED, p, successes / n - chance)


def t_test(first: ArrayLike, second: ArrayLike, *, equal_variances: bool = False) -> Tested:
    """Return Welch's test of two means, or Student's; the effect is the difference of means."""
    a, b = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    if min(len(a), len(b)) < 2:
        return Tested(UNDEFINED, UNDEFINED, UNDEFINED, UNDEFINED, "fewer than two values per side")
    effect = float(a.mean() - b.mean())
    n, m = len(a), len(b)
    # Of equal values the rounded mean may differ from each; they have no variance all the same.
    va, vb = (float(x.var(ddof=1)) if np.ptp(x) else 0.0 for x in (a, b))
    if va == vb == 0:
        return Tested(UNDEFINED, UNDEFINED, UNDEFINED, effect, "neither side varies")
    if equal_variances:
        df = float(n + m - 2)
        squared = ((n - 1) * va + (m - 1) * vb) / df * (1 / n + 1 / m)
    else:
        squared = va / n + vb / m
        df = squared**2 / ((va / n) ** 2 / (n - 1) + (vb / m) ** 2 / (m - 1))
    t = effect / float(np.sqrt(squared))
    return Tested(t, df, float(2 * special.stdtr(df, -abs(t))), effect)


def paired_t_test(first: ArrayLike, second: ArrayLike) -> Tested:
    """Return Student's test (1908, Biometrika 6, 1-25) of two means of the same things, in order.

    The effect is the mean of the differences.
    """
    apart = np.asarray(first, dtype=float) - np.asarray(second, dtype=float)
    if len(apart) < 2:
        return Tested(UNDEFINED, UNDEFINED, UNDEFINED, UNDEFINED, "fewer than two values per side")
    effect, df = float(apart.mean()), float(len(apart) - 1)
    if np.ptp(apart) == 0:
        return Tested(UNDEFINED, UNDEFINED, UNDEFINED, effect, "all differences are alike")
    t = effect / float(apart.std(ddof=1) / np.sqrt(len(apart)))
    return Tested(t, df, float(2 * special.stdtr(df, -abs(t))), effect)


def chi_square(table: ArrayLike) -> Tested:
    """Return the test of independence of a table of counts; the effect is phi = √(χ²/N).

    χ² = Σ (O - E)²/E with E_ij = P(A_i) P(B_j) N, without a correction for continuity.
    """
    observed = np.asarray(table, dtype=float)
    observed = observed[observed.sum(axis=1) > 0][:, observed.sum(axis=0) > 0]
    if min(observed.shape, default=0) < 2:
        why = "only one category on one side"
        return Tested(UNDEFINED, UNDEFINED, UNDEFINED, UNDEFINED, why)
    total = observed.sum()
    expected = np.outer(observed.sum(axis=1), observed.sum(axis=0)) / total
    statistic = float(((observed - expected) ** 2 / expected).sum())
    df = float((observed.shape[0] - 1) * (observed.shape[1] - 1))
    return Tested(statistic, df, float(special.chdtrc(df, statistic)), np.sqrt(statistic / total))


def holm(p: Sequence[float]) -> list[float]:
    """Return p values adjusted for one family (Holm 1979, Scand. J. Statist. 6); NaN stays out."""
    known = sorted((value, index) for index, value in enumerate(p) if value == value)
    adjusted, highest = [UNDEFINED] * len(p), 0.0
    for rank, (value, index) in enumerate(known):
        highest = max(highest, min(1.0, (len(known) - rank) * value))
        adjusted[index] = highest
    return adjusted


def stars(p: float) -> str:
    """Return *** for .1 %, ** for 1 %, * for 5 %, else n.s. as PERSONA-METRICS prints it."""
    return next((sign for bound, sign in STARS if p < bound), "n.s.")
