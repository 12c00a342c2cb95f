"""Prediction-powered means: a judge's scores of all items, people's of a random part of them.

PPI++ with power tuning (Angelopoulos, Duchi & Zrnic 2023, arXiv:2311.01453, section 6): the judge's
mean over what people did not rate, shrunken by λ, plus the mean error over what they did. λ
minimizes the variance, so a judge who knows nothing changes nothing. `independent_mean` is the
published interval of independent ratings; `powered_mean` adds clusters of raters and items and
small samples. Apart because notebooks use it without a command.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from analysis.planning.components import cluster_sums, clustered_mean
from analysis.stats.intervals import Floats, Interval, normal_interval, t_interval

SIMULATED_AS = ("prediction-powered mean",)

# With fewer rated items neither λ nor the fit of the judge's scores can be estimated.
LEAST_ITEMS = 10
# A random part has judge's scores this far from the rest's in one case of a hundred.
NOT_RANDOM = 0.01


class JudgeRefused(ValueError):
    """The judge's scores cannot be used with people's; the message says why and what would do."""


@dataclass(frozen=True)
class PoweredMean:
    """An estimate with its 95 % interval, λ, and the estimate and interval of people alone.

    `rated` counts the items that people rated, `others` those that only the judge scored.
    """

    estimate: float
    interval: Interval
    power: float
    people: float
    people_interval: Interval
    rated: int
    others: int


def tuned_power(rated: ArrayLike, scores: ArrayLike, others: ArrayLike, most: float = 1.0) -> float:
    """Return λ, from 0 to `most`: cov(rating, score) / ((1 + n/N) var(score)).

    As ppi-python has it: the covariance over n, the variance over all scores less one.
    """
    y, f, rest = (np.asarray(each, dtype=float) for each in (rated, scores, others))
    both = np.concatenate([f, rest])
    spread = float(both.var(ddof=1))
    if spread == 0:
        return 0.0
    joint = float(((y - y.mean()) * (f - f.mean())).mean())
    return float(np.clip(joint / ((1 + len(f) / len(rest)) * spread), 0.0, most))


def independent_mean(
    rated: ArrayLike, scores: ArrayLike, others: ArrayLike, power: float | None = None
) -> PoweredMean:
    """Return the published interval: one rating per item, each by a rater of their own.

    `rated` and `scores` are of the n items that people rated, `others` the judge's scores of the N
    others. With `power` 1 it is prediction-powered inference without tuning.
    """
    y, f, rest = (np.asarray(each, dtype=float) for each in (rated, scores, others))
    weight = tuned_power(y, f, rest) if power is None else power
    estimate = float(weight * rest.mean() + (y - weight * f).mean())
    variance = weight**2 * rest.var() / len(rest) + (y - weight * f).var() / len(y)
    people = float(y.mean())
    alone = normal_interval(people, float(y.std()) / np.sqrt(len(y)))
    interval = normal_interval(estimate, float(np.sqrt(variance)))
    return PoweredMean(estimate, interval, weight, people, alone, len(y), len(rest))


def powered_mean(
    rated: ArrayLike, rater: ArrayLike, item: ArrayLike, scores: ArrayLike, others: ArrayLike
) -> PoweredMean:
    """Return the interval with clusters of raters and items, never wider than people alone.

    `rated`, `rater`, `item` and `scores` have an entry per rating, the judge's score repeated for
    each rating of an item; `others` has one per item that nobody rated. Student's quantiles with
    Satterthwaite's degrees of freedom; the variance of the errors is raised for the estimated λ.

    Raises:
        JudgeRefused: too few items, no others, or the rated items are no random part of all.
    """
    y, f, rest = (np.asarray(each, dtype=float) for each in (rated, scores, others))
    items, first, cell = np.unique(np.asarray(item), return_index=True, return_inverse=True)
    by_item = np.bincount(cell, y) / np.bincount(cell)
    check_part(f[first], rest)
    people = clustered_mean(cluster_sums(y, rater, item))
    mean = float(people.mean)
    alone = t_interval(mean, float(np.sqrt(people.variance)), float(people.df))
    same = PoweredMean(mean, alone, 0.0, mean, alone, len(items), len(rest))
    weight = tuned_power(by_item, f[first], rest, most=np.inf)  # the judge's scale may be another
    errors = clustered_mean(cluster_sums(y - weight * f, rater, item))
    lost = (len(items) - 1) / (len(items) - 2)
    parts = np.array([float(errors.variance) * lost, weight**2 * rest.var(ddof=1) / len(rest)])
    df = parts.sum() ** 2 / (parts**2 / np.array([float(errors.df), len(rest) - 1])).sum()
    estimate = float(errors.mean) + weight * float(rest.mean())
    interval = t_interval(estimate, float(np.sqrt(parts.sum())), float(df))
    if weight == 0 or interval.high - interval.low >= alone.high - alone.low:
        return same
    return replace(same, estimate=estimate, interval=interval, power=weight)


def check_part(scores: Floats, others: Floats) -> None:
    """Raise `JudgeRefused` where the rated items can be no random part of all items.

    Their judge's scores are compared with the others' by Welch's t (1947, Biometrika 34).
    """
    if len(scores) < LEAST_ITEMS:
        raise JudgeRefused(
            f"people rated {len(scores)} of its items, and {LEAST_ITEMS} are the fewest that show "
            "how far the judge is off; let people rate a random part"
        )
    if len(others) < 2:
        raise JudgeRefused("people rated all its items: the judge adds nothing")
    parts = np.array([scores.var(ddof=1) / len(scores), others.var(ddof=1) / len(others)])
    gap = float(scores.mean() - others.mean())
    if parts.sum() == 0:
        differs = gap != 0
    else:
        counts = np.array([len(scores), len(others)]) - 1
        df = parts.sum() ** 2 / (parts**2 / counts).sum()
        differs = bool(2 * special.stdtr(df, -abs(gap) / np.sqrt(parts.sum())) < NOT_RANDOM)
    if differs:
        raise JudgeRefused(
            f"the judge's scores of what people rated ({scores.mean():.3f} in the mean) are unlike "
            f"those of the rest ({others.mean():.3f}): that is no random part, and what the judge "
            "errs there says nothing of the rest; draw items at random for people to rate"
        )
