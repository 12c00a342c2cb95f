"""95 % intervals: Student's t, straight or bent, normal, of shares and rates, by bootstrap."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import lru_cache
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
# Kinds of resamples of few units that are kept, of a byte a number.
KEPT = 16
# Less skewness than this is none: its reciprocal would only add rounding.
STRAIGHT = 1e-6


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


def skewed_interval(mean: float, se: float, df: float, parts: Floats) -> Interval:
    """Return Student's interval bent for the skewness of what a mean, or a ratio, is made of.

    `parts` has how far each independent unit pulls the estimate. The studentized mean is made
    symmetric by Hall's cubic (1992, J. Royal Statistical Society B 54, 221-228), whose inverse
    is taken at Student's quantiles. Of 20 waiting times it holds .94 where Student's holds .92.
    """
    gaps = parts - parts.mean()
    bent = float((gaps**3).sum()) / float((gaps**2).sum()) ** 1.5 if np.ptp(gaps) > 0 else 0.0
    if df < 1 or abs(bent) < STRAIGHT:
        return t_interval(mean, se, df)
    t = float(special.stdtrit(df, 0.5 + LEVEL / 2))
    ends = 3 / bent * (np.cbrt(1 + bent * (np.array([t, -t]) - bent / 6)) - 1)
    return Interval(mean - se * float(ends[0]), mean - se * float(ends[1]))


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


def difference_interval(one: float, of_one: Interval, other: float, of_other: Interval) -> Interval:
    """Return the interval of one less the other, independent of it, from the intervals of both.

    The method of variance estimates recovery (Zou & Donner 2008, Statistics in Medicine 27,
    1693-1702); of two shares with Wilson's intervals it is Newcombe's (1998, Statistics in Medicine
    17, 873-890).
    """
    down = math.hypot(one - of_one.low, of_other.high - other)
    up = math.hypot(of_one.high - one, other - of_other.low)
    return Interval(one - other - down, one - other + up)


def rate_interval(mean: float, se: float, df: float) -> Interval:
    """Return a score interval of a mean of values that are not negative: counts, seconds, words.

    As `share_interval`, with Poisson's variance for the binomial's: |m - μ| = t·√(μ·se²/m), which
    is Rao's score test of a Poisson mean (Barker 2002, The American Statistician 56, 85-89)
    of counts with this dispersion. Rare counts and skewed values have long upper ends.
    """
    if df < 1 or mean <= 0:
        return NONE
    added = (float(special.stdtrit(df, 0.5 + LEVEL / 2)) * se) ** 2 / mean
    middle, half = mean + added / 2, math.sqrt(added * mean + added**2 / 4)
    return Interval(middle - half, middle + half)


def bootstrap(
    statistic: Callable[[Floats], Floats], units: int, *, seed: int, draws: int = DRAWS
) -> Floats:
    """Return the statistic of `draws` resamples of `units` units (Efron & Tibshirani 1993, ch. 13).

    `statistic` is given a matrix, a row per resample, of how often each unit was drawn, and
    returns a number per row. Units are what is independent: items, conversations, raters.
    """
    if units * draws <= PIECE:
        return statistic(_drawn_once(units, seed, draws).astype(float))
    return np.concatenate([statistic(piece.astype(float)) for piece in _drawn(units, seed, draws)])


def _drawn(units: int, seed: int, draws: int) -> Iterator[NDArray[np.int64]]:
    """Yield pieces of resamples: how often each unit."""
    rng = np.random.default_rng(seed)
    rows = max(1, min(draws, PIECE // max(units, 1)))
    chances = np.full(units, 1 / units)
    for done in range(0, draws, rows):
        yield rng.multinomial(units, chances, size=min(rows, draws - done))


@lru_cache(maxsize=KEPT)
def _drawn_once(units: int, seed: int, draws: int) -> NDArray[np.integer]:
    """Return the resamples of few units, which every question with so many units has."""
    (drawn,) = _drawn(units, seed, draws)
    return drawn.astype(np.min_scalar_type(int(drawn.max(initial=0))))


def percentile_interval(values: Floats, units: int | None = None) -> Interval:
    """Return the middle 95 % of `values`, leaving out resamples where nothing was defined.

    Resamples of few units spread too little. Where their number is given more than 95 % are taken,
    as many as would make the interval of a mean Student's (the expanded percentile interval:
    Hesterberg 2015, The American Statistician 69, 371-386).
    """
    known = values[np.isfinite(values)]
    if len(known) == 0:
        return NONE
    tail = _tail(units)
    low, high = np.quantile(known, [tail, 1 - tail])
    return Interval(float(low), float(high))


def _tail(units: int | None) -> float:
    tail = (1 - LEVEL) / 2
    if units is None or units < 2:
        return tail
    t = float(special.stdtrit(units - 1, 1 - tail))
    return float(special.ndtr(-t * np.sqrt(units / (units - 1))))


def bca_interval(
    values: Floats, estimate: float, left_out: Floats, times: Floats, units: int
) -> Interval:
    """Return the middle 95 % of resamples, corrected for bias and acceleration.

    BCa (Efron 1987, JASA 82, 171-185; Efron & Tibshirani 1993, section 14.3), expanded for few
    units as `percentile_interval` is. `left_out` has the statistic without one unit of a kind, of
    which there are as many as `times` says.
    """
    known = values[np.isfinite(values)]
    if len(known) == 0 or not np.isfinite(estimate):
        return NONE
    same = np.isclose(known, estimate, rtol=0, atol=1e-12)
    below = float(((known < estimate) & ~same).mean() + same.mean() / 2)
    bias = float(special.ndtri(np.clip(below, 1 / len(known), 1 - 1 / len(known))))
    pull = np.where(np.isfinite(left_out), left_out, estimate)
    pull = np.average(pull, weights=times) - pull
    spread = float((times * pull**2).sum())
    bent = float((times * pull**3).sum()) / (6 * spread**1.5) if spread > 0 else 0.0
    ends = float(special.ndtri(_tail(units))) * np.array([1, -1]) + bias
    low, high = np.quantile(known, special.ndtr(bias + ends / (1 - bent * ends)))
    return Interval(float(low), float(high))


def by_content(*columns: Floats) -> NDArray[np.intp]:
    """Return an order of units that follows what they hold, not how they are called.

    The same seed then draws the same resamples after a change of names or of row order.
    """
    return np.lexsort(columns[::-1])
