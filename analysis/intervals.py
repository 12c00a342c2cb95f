"""95 % intervals: Student's t, normal, Wilson's for a share, and a seeded bootstrap."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

Floats = NDArray[np.float64]
LEVEL = 0.95
Z = float(special.ndtri(0.5 + LEVEL / 2))
DRAWS = 2000
# Weights are drawn in pieces, so that many units do not fill the memory.
PIECE = 2_000_000


class Interval(NamedTuple):
    """Both ends; NaN where there is no interval."""

    low: float
    high: float


NONE = Interval(float("nan"), float("nan"))


def t_interval(mean: float, se: float, df: float) -> Interval:
    """Return mean ± t·se with `df` degrees of freedom; none without any."""
    if df < 1:
        return NONE
    half = float(special.stdtrit(df, 0.5 + LEVEL / 2)) * se
    return Interval(mean - half, mean + half)


def normal_interval(mean: float, sd: float) -> Interval:
    """Return mean ± 1.96 sd."""
    return Interval(mean - Z * sd, mean + Z * sd)


def wilson_interval(successes: float, n: float) -> Interval:
    """Return Wilson's score interval of a share (Wilson 1927, JASA 22, 209-212)."""
    if n <= 0:
        return NONE
    share, z2 = successes / n, Z * Z
    middle = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = Z * np.sqrt(share * (1 - share) / n + z2 / (4 * n * n)) / (1 + z2 / n)
    # With none or all, an end is the share itself, which rounding must not step over.
    low, high = min(share, float(middle - half)), max(share, float(middle + half))
    return Interval(max(0.0, low), min(1.0, high))


def share_interval(mean: float, se: float, df: float, n: float) -> Interval:
    """Return Wilson's interval of a mean of values from 0 to 1, with as many as they are worth.

    That is how many yes-or-no answers have this standard error, lowered for the degrees of freedom
    (Korn & Graubard 1998, Survey Methodology 24, 193-201; Dean & Pagano 2015, J. Survey Statistics
    and Methodology 3, 484-503), or `n` where nothing varies. Near 0 and 1 it holds where Student's
    does not.
    """
    if df < 1 or n < 1:
        return NONE
    if se > 0:
        t = float(special.stdtrit(df, 0.5 + LEVEL / 2))
        n = mean * (1 - mean) / se**2 * (Z / t) ** 2
    return wilson_interval(mean * n, n)


def bootstrap(statistic: Callable[[Floats], Floats], units: int, *, seed: int) -> Floats:
    """Return the statistic of `DRAWS` resamples of `units` units (Efron & Tibshirani 1993, ch. 13).

    `statistic` is given a matrix, a row per resample, of how often each unit was drawn, and
    returns a number per row. Units are what is independent: items, conversations, raters.
    """
    rng = np.random.default_rng(seed)
    rows = max(1, min(DRAWS, PIECE // max(units, 1)))
    chances = np.full(units, 1 / units)
    pieces = [
        statistic(rng.multinomial(units, chances, size=min(rows, DRAWS - done)).astype(float))
        for done in range(0, DRAWS, rows)
    ]
    return np.concatenate(pieces)


def percentile_interval(values: Floats, units: int | None = None) -> Interval:
    """Return the middle 95 % of `values`, leaving out resamples where nothing was defined.

    Resamples of few units spread too little. Where their number is given more than 95 % are taken,
    as many as would make the interval of a mean Student's (the expanded percentile interval:
    Hesterberg 2015, The American Statistician 69, 371-386).
    """
    known = values[np.isfinite(values)]
    if len(known) == 0:
        return NONE
    tail = (1 - LEVEL) / 2
    if units is not None and units > 1:
        t = float(special.stdtrit(units - 1, 1 - tail))
        tail = float(special.ndtr(-t * np.sqrt(units / (units - 1))))
    low, high = np.quantile(known, [tail, 1 - tail])
    return Interval(float(low), float(high))


def by_content(*columns: Floats) -> NDArray[np.intp]:
    """Return an order of units that follows what they hold, not how they are called.

    The same seed then draws the same resamples after a change of names or of row order.
    """
    return np.lexsort(columns[::-1])
