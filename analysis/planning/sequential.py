"""Confidence sequences of a difference: intervals that hold at every look, so one may stop early.

Robbins' normal mixture (1970, Annals of Mathematical Statistics 41, 1397-1409; as an asymptotic
sequence for estimated variances: Waudby-Smith et al. 2024, Annals of Statistics 52, 2613-2640) in
information time 1/V, where V is the variance of the mean with clusters of raters and items. A mean
whose raters' tastes do not average out gains little information, so the sequence stops shrinking
where the mean does. Student's quantiles with Satterthwaite's degrees of freedom take the place of
normal ones, because V is estimated. Two systems that have raters of their own are compared by the
difference of their means, which grows in the same information time however unequally they grow
(Jennison & Turnbull 1997, Journal of the American Statistical Association 92, 1330-1341). Apart
because notebooks and pages look without a command.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from analysis.planning.components import ClusteredMean, OwnRaters
from analysis.stats.intervals import LEVEL, NONE, Floats, Interval, t_interval
from analysis.tables.options import BadOption

SIMULATED_AS = ("confidence sequence",)

# Fewer items, or raters, leave V too unsure for any look (tests hold false stops to 5 %).
LEAST_ITEMS = 8
LEAST_RATERS = 5
# With less chance than this, at best, of a decision within the budget there will be none.
FUTILE = 0.05

# A mean of differences, or a difference of means.
Evidence = ClusteredMean | OwnRaters
Verdict = Literal["decided", "not yet", "cannot be decided with this budget"]


@dataclass(frozen=True)
class StopRule:
    """What was settled before the first look.

    `expected` is the difference in points for which the sequence is shortest; it holds for any.
    `margin` is a difference in points too small to matter, None where equality is no verdict.
    `budget` is the most items there will be, of each system where raters are its own. Of several
    `pairs` each gets its part of `error`, the probability that any of them is ever wrong
    (Bonferroni).

    Raises:
        BadOption: a number with which there is no rule.
    """

    expected: float
    margin: float | None = None
    budget: int | None = None
    pairs: int = 1
    error: float = 1 - LEVEL

    def __post_init__(self) -> None:
        right = (
            ("expected", self.expected, self.expected > 0, "above 0, in points of the scale"),
            ("margin", self.margin, self.margin is None or self.margin > 0,
             "above 0, in points of the scale"),
            ("budget", self.budget, self.budget is None or self.budget >= 1,
             "the most items there will be"),
            ("alpha", self.error, 0 < self.error <= 0.5, "above 0, at most 0.5"),
        )  # fmt: skip
        for name, value, holds, what in right:
            if not holds:
                raise BadOption(f"--{name}", str(value), what)

    @property
    def alpha(self) -> float:
        """The probability that the sequence of one pair ever fails."""
        return self.error / self.pairs


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


def radius(found: Evidence, rule: StopRule) -> Floats:
    """Return half the width of the sequence at each look; infinite where it is too early."""
    enough = (found.items >= LEAST_ITEMS) & (found.raters >= LEAST_RATERS)
    ready = enough & (found.variance > 0)
    variance = np.where(ready, found.variance, 1.0)
    half = quantile(variance, found.df, rule) * np.sqrt(variance)
    return np.asarray(np.where(ready, half, np.inf), dtype=float)


def quantile(variance: ArrayLike, df: ArrayLike, rule: StopRule) -> Floats:
    """Return the boundary in standard errors: Robbins's (1970), by Student's tail."""
    information, prior = 1 / np.asarray(variance, dtype=float), 1 / rule.expected**2
    whole = information + prior
    square = whole / information * np.log(whole / (prior * rule.alpha**2))
    return np.asarray(-special.stdtrit(df, special.ndtr(-np.sqrt(square))), dtype=float)


def look(found: Evidence, rule: StopRule) -> Look:
    """Return the verdict of one pair on what there is; the mean is one number here."""
    half, mean = float(radius(found, rule)), float(found.mean)
    interval = NONE if np.isinf(half) else Interval(mean - half, mean + half)
    reason = _reason(interval, rule.margin)
    chance = None if reason or rule.budget is None else chance_of_decision(found, rule)
    verdict: Verdict = "decided" if reason else "not yet"
    if chance is not None and best_chance(found, rule) < FUTILE:
        verdict = "cannot be decided with this budget"
    return Look(
        mean,
        interval,
        verdict,
        reason,
        chance,
        items=int(found.items),
        raters=int(found.raters),
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


def chance_of_decision(found: Evidence, rule: StopRule) -> float:
    """Return the probability of a decision when the budget is used up, as far as is known now.

    The mean then is normal around the present one, with the variance that is to go
    (Spiegelhalter, Freedman & Blackburn 1986, Controlled Clinical Trials 7, 8-17). 1 while it is
    too early to tell.
    """
    if (known := _too_early(found, rule)) is not None:
        return known
    last = _grown(found, rule.budget or 0)
    to_go = max(float(found.variance - last.variance), 0.0)
    return _decided(last, rule, float(found.mean), math.sqrt(to_go))


def best_chance(found: Evidence, rule: StopRule) -> float:
    """Return the probability of a decision for the difference that makes one likeliest.

    Of those within Student's present 95 % interval: stochastic curtailment (Lan, Simon & Halperin
    1982, Sequential Analysis 1, 207-219) that gives up only where no such difference would do, and
    raters' tastes are as alike as they may well be.
    """
    if (known := _too_early(found, rule)) is not None:
        return known
    last, mean = _grown(_alike(found), rule.budget or 0), float(found.mean)
    part = min(float(last.variance / found.variance), 1.0)
    ends = t_interval(mean, math.sqrt(float(found.variance)), float(found.df))
    sd = math.sqrt(float(last.variance) * (1 - part))
    open_still = (*ends, min(max(0.0, ends.low), ends.high))
    return max(_decided(last, rule, part * mean + (1 - part) * each, sd) for each in open_still)


def _alike(found: Evidence) -> Evidence:
    """Return it with raters as alike as they may well be."""
    if isinstance(found, OwnRaters):
        return OwnRaters(*(replace(one, rater=_least_taste(one)) for one in _means(found)))
    return replace(found, rater=_least_taste(found))


def _means(found: OwnRaters) -> tuple[ClusteredMean, ClusteredMean]:
    return found.one, found.other


def _least_taste(found: ClusteredMean) -> Floats:
    """Return the lower 95 % limit of the raters' variance (Searle et al. 1992, ch. 3)."""
    sums = found.sums
    per_rater = sums.rater_pairs / sums.n
    among = found.noise + per_rater * found.rater
    items = np.where(found.item > 0, sums.items - 1, 0)
    left = np.maximum(sums.n - sums.raters - items, 1)
    most = special.fdtri(np.maximum(sums.n**2 / sums.rater_pairs - 1, 1), left, LEVEL)
    return np.asarray(np.maximum(among / most - found.noise, 0.0) / per_rater, dtype=float)


def _too_early(found: Evidence, rule: StopRule) -> float | None:
    budget = rule.budget or 0
    if budget <= found.items:
        return 0.0
    if np.isinf(float(radius(found, rule))):
        return float(budget >= LEAST_ITEMS)
    return None


def _decided(last: Evidence, rule: StopRule, mean: float, sd: float) -> float:
    """Return the probability that the last mean, normal around `mean`, decides."""
    half = float(quantile(last.variance, last.df, rule)) * math.sqrt(float(last.variance))
    apart = _above(half, mean, sd) + 1 - _above(-half, mean, sd)
    if rule.margin is None or half >= rule.margin:
        return apart
    inside = rule.margin - half
    return min(1.0, apart + _above(-inside, mean, sd) - _above(inside, mean, sd))


def _above(end: float, mean: float, sd: float) -> float:
    if sd == 0:
        return float(mean > end)
    return float(special.ndtr((mean - end) / sd))


def _grown(found: Evidence, items: int) -> Evidence:
    """Return it once there are so many items, as variable as now.

    The raters of differences are the same ones, who go on; raters of one system each are new ones,
    who rate as much as those before.
    """
    if isinstance(found, OwnRaters):
        return OwnRaters(*(_more(one, items, new=True) for one in _means(found)))
    return _more(found, items, new=False)


def _more(found: ClusteredMean, items: int, *, new: bool) -> ClusteredMean:
    sums = found.sums
    times = items / sums.items
    n = sums.n * times
    rater_pairs = np.maximum(sums.rater_pairs * (times if new else times**2), n)
    variance = (
        found.rater * rater_pairs / n**2
        + found.item * sums.item_pairs * times / n**2
        + found.noise / n
    )
    spread = (found.rater + found.item + found.noise) / n
    grown = sums._replace(n=n, items=sums.items * times, rater_pairs=rater_pairs)
    return replace(found, variance=np.maximum(variance, spread), sums=grown)
