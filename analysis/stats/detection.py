"""Detection of one group by a score, with intervals that hold for few cases."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike

from analysis.stats.intervals import Floats, Interval, Z, wilson_interval

SIMULATED_AS = ("areas", "flagged_conversations")

UNDEFINED = float("nan")


@dataclass(frozen=True)
class Proportion:
    """A share of a group, with Wilson's interval."""

    estimate: float
    interval: Interval
    n: int


@dataclass(frozen=True)
class Detection:
    """The area under the ROC curve, and the shares of both groups that the flag itself takes."""

    auc: float
    interval: Interval
    found: Proportion
    mistaken: Proportion
    reason: str | None = None


def detection(
    positive: ArrayLike,
    negative: ArrayLike,
    flagged_positive: ArrayLike,
    flagged_negative: ArrayLike,
) -> Detection:
    """Return what scores and flags do on those to be found (`positive`) and on the others.

    The area is the chance that one of the first has the higher score, ties counting half (Hanley &
    McNeil 1982, Radiology 143).
    """
    found, mistaken = share(flagged_positive), share(flagged_negative)
    a, b = np.asarray(positive, dtype=float), np.asarray(negative, dtype=float)
    if not len(a) or not len(b):
        none = Interval(UNDEFINED, UNDEFINED)
        return Detection(UNDEFINED, none, found, mistaken, "one of the two groups is empty")
    auc = area(a, b)
    return Detection(auc, area_interval(auc, len(a), len(b)), found, mistaken)


def share(flags: ArrayLike) -> Proportion:
    """Return the share of those flagged."""
    known = np.asarray(flags, dtype=bool)
    n = len(known)
    estimate = float(known.mean()) if n else UNDEFINED
    return Proportion(estimate, wilson_interval(float(known.sum()), n), n)


def area(positive: Floats, negative: Floats) -> float:
    """Return the share of pairs in which the first has the higher score, ties half."""
    ordered = np.sort(negative)
    below = np.searchsorted(ordered, positive, "left") + np.searchsorted(ordered, positive, "right")
    return float(below.mean() / 2 / len(ordered))


def area_interval(auc: float, positive: int, negative: int) -> Interval:
    """Return the areas that the one seen is within 1.96 standard errors of.

    Method 5 of Newcombe 2006 (Statistics in Medicine 25, 559-573): the standard error of Hanley &
    McNeil 1982 is taken at the area that is tried, with the mean of both numbers in it, as Wilson's
    interval of a share does. A bootstrap holds less often of few: `docs/simulation.md`.
    """
    even = (positive + negative) / 2 - 1

    def beyond(tried: float) -> float:
        near = 1 + even * (1 - tried) / (2 - tried) + even * tried / (1 + tried)
        return (auc - tried) ** 2 - Z**2 * tried * (1 - tried) * near / (positive * negative)

    # At 0 and at 1 both sides are 0, which is no end.
    inside = float(np.clip(auc, 1e-9, 1 - 1e-9))
    low = 0.0 if auc <= 0 else float(scipy.optimize.brentq(beyond, 0.0, inside))
    high = 1.0 if auc >= 1 else float(scipy.optimize.brentq(beyond, inside, 1.0))
    return Interval(low, high)
