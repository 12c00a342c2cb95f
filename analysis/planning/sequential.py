"""Confidence sequences of a difference: intervals that hold at every look, so one may stop early.

Robbins' normal mixture (1970, Annals of Mathematical Statistics 41, 1397-1409; as an asymptotic
sequence for estimated variances: Waudby-Smith et al. 2024, Annals of Statistics 52, 2613-2640) in
information time 1/V, where V is the variance of the mean with clusters of raters and items. A mean
whose raters' tastes do not average out gains little information, so the sequence stops shrinking
where the mean does. Student's quantiles with Satterthwaite's degrees of freedom take the place of
normal ones, because V is estimated. Apart because notebooks and pages look without a command.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from analysis.planning.components import ClusteredMean
from analysis.stats.intervals import LEVEL, NONE, Floats, Interval

SIMULATED_AS = ("confidence sequence",)

# Fewer items, or raters, leave V too unsure for any look (tests hold false stops to 5 %).
LEAST_ITEMS = 8
LEAST_RATERS = 5
# With less chance than this of a decision within the budget there will be none.
FUTILE = 0.05

Verdict = Literal["decided", "not yet", "cannot be decided with this budget"]


@dataclass(frozen=True)
class StopRule:
    """What was settled before the first look.

    `expected` is the difference in points for which the sequence is shortest; it holds for any.
    `margin` is a difference in points too small to matter, None where equality is no verdict.
    `budget` is the most items there will be. Of several `pairs` each gets its part of 5 %
    (Bonferroni), so that all their sequences hold together.
    """

    expected: float
    margin: float | None = None
    budget: int | None = None
    pairs: int = 1

    @property
    def alpha(self) -> float:
        """The probability that the sequence of one pair ever fails."""
        return (1 - LEVEL) / self.pairs


@dataclass(frozen=True)
class Look:
    """A pair at one look: its difference, the interval, the verdict and why.

    `chance` is the probability of a decision within the budget; None without one, or once decided.
    """

    estimate: float
    interval: Interval
    verdict: Verdict
    reason: str
    chance: float | None
    items: int
    raters: int


def radius(found: ClusteredMean, rule: StopRule) -> Floats:
    """Return half the width of the sequence at each look; infinite where it is too early."""
    enough = (found.sums.items >= LEAST_ITEMS) & (found.sums.raters >= LEAST_RATERS)
    ready = enough & (found.variance > 0)
    variance = np.where(ready, found.variance, 1.0)
    half = quantile(variance, found.df, rule) * np.sqrt(variance)
    return np.asarray(np.where(ready, half, np.inf), dtype=float)


def quantile(variance: ArrayLike, df: ArrayLike, rule: StopRule) -> Floats:
    """Return the boundary in standard errors: Robbins's (1970, equation 17), by Student's tail."""
    information, prior = 1 / np.asarray(variance, dtype=float), 1 / rule.expected**2
    whole = information + prior
    square = whole / information * np.log(whole / (prior * rule.alpha**2))
    return np.asarray(-special.stdtrit(df, special.ndtr(-np.sqrt(square))), dtype=float)


def look(found: ClusteredMean, rule: StopRule) -> Look:
    """Return the verdict of one pair on what there is; the mean is one number here."""
    half, mean = float(radius(found, rule)), float(found.mean)
    interval = NONE if np.isinf(half) else Interval(mean - half, mean + half)
    reason = _reason(interval, rule.margin)
    chance = None if reason or rule.budget is None else chance_of_decision(found, rule)
    verdict: Verdict = "decided" if reason else "not yet"
    if chance is not None and chance < FUTILE:
        verdict = "cannot be decided with this budget"
    return Look(
        mean,
        interval,
        verdict,
        reason,
        chance,
        items=int(found.sums.items),
        raters=int(found.sums.raters),
    )


def _reason(interval: Interval, margin: float | None) -> str:
    """Return what is decided, or nothing."""
    if interval.low > 0:
        return "higher"
    if interval.high < 0:
        return "lower"
    if margin is not None and -margin < interval.low and interval.high < margin:
        return "equivalent"
    return ""


def chance_of_decision(found: ClusteredMean, rule: StopRule) -> float:
    """Return the probability of a decision when the budget is used up.

    The mean then is normal around the present one, with the variance that is to go
    (Spiegelhalter, Freedman & Blackburn 1986, Controlled Clinical Trials 7, 8-17), and the same
    raters go on. 1 while it is too early to tell.
    """
    budget = rule.budget or 0
    if budget <= found.sums.items:
        return 0.0
    if np.isinf(float(radius(found, rule))):
        return float(budget >= LEAST_ITEMS)
    last = _grown(found, budget)
    half = float(quantile(last.variance, last.df, rule)) * float(np.sqrt(last.variance))
    to_go = float(np.sqrt(max(float(found.variance - last.variance), 0.0)))
    mean = float(found.mean)
    apart = _above(half, mean, to_go) + 1 - _above(-half, mean, to_go)
    if rule.margin is None or half >= rule.margin:
        return apart
    inside = rule.margin - half
    return min(1.0, apart + _above(-inside, mean, to_go) - _above(inside, mean, to_go))


def _above(end: float, mean: float, sd: float) -> float:
    if sd == 0:
        return float(mean > end)
    return float(special.ndtr((mean - end) / sd))


def _grown(found: ClusteredMean, items: int) -> ClusteredMean:
    """Return the mean once there are so many items, by the same raters, as variable as now."""
    sums = found.sums
    times = items / sums.items
    n = sums.n * times
    rater_pairs = np.maximum(sums.rater_pairs * times**2, n)
    variance = (
        found.rater * rater_pairs / n**2
        + found.item * sums.item_pairs * times / n**2
        + found.noise / n
    )
    spread = (found.rater + found.item + found.noise) / n
    grown = sums._replace(n=n, items=sums.items * times, rater_pairs=rater_pairs)
    return replace(found, variance=np.maximum(variance, spread), sums=grown)
