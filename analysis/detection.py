"""How well a score tells two groups apart, with bootstrap intervals over what was scored."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from analysis.intervals import DRAWS, Floats, Interval, percentile_interval, wilson_interval

UNDEFINED = float("nan")


@dataclass(frozen=True)
class Share:
    """How many of a group are flagged, with Wilson's interval."""

    estimate: float
    interval: Interval
    n: int


@dataclass(frozen=True)
class Detection:
    """The area under the ROC curve, and the shares of both groups that the flag itself takes."""

    auc: float
    interval: Interval
    found: Share
    mistaken: Share
    reason: str | None = None


def detection(
    positive: ArrayLike,
    negative: ArrayLike,
    flagged_positive: ArrayLike,
    flagged_negative: ArrayLike,
    *,
    seed: int = 0,
) -> Detection:
    """Return what scores and flags do on those to be found (`positive`) and on the others.

    The area is the chance that one of the first has the higher score, ties counting half (Hanley &
    McNeil 1982, Radiology 143); both groups are resampled, each by itself.
    """
    found, mistaken = share(flagged_positive), share(flagged_negative)
    a, b = np.asarray(positive, dtype=float), np.asarray(negative, dtype=float)
    if not len(a) or not len(b):
        none = Interval(UNDEFINED, UNDEFINED)
        return Detection(UNDEFINED, none, found, mistaken, "one of the two groups is empty")
    scores = np.unique(np.concatenate([a, b]))
    first = _histograms(a, scores, seed=seed)
    second = _histograms(b, scores, seed=seed + 1)
    whole = _area(_histogram(a, scores)[None], _histogram(b, scores)[None])[0]
    return Detection(float(whole), percentile_interval(_area(first, second)), found, mistaken)


def share(flags: ArrayLike) -> Share:
    """Return the share of those flagged."""
    given = np.asarray(flags, dtype=bool)
    n = len(given)
    estimate = float(given.mean()) if n else UNDEFINED
    return Share(estimate, wilson_interval(float(given.sum()), n), n)


def _histogram(values: Floats, scores: Floats) -> Floats:
    places = np.searchsorted(scores, values)
    return np.bincount(places, minlength=len(scores)).astype(float)


def _histograms(values: Floats, scores: Floats, *, seed: int) -> Floats:
    """Return how often each score is in each resample of the values."""
    shares = _histogram(values, scores) / len(values)
    rng = np.random.default_rng(seed)
    return rng.multinomial(len(values), shares, size=DRAWS).astype(float)


def _area(first: Floats, second: Floats) -> Floats:
    below = np.cumsum(second, axis=1) - second / 2
    return np.asarray((first * below).sum(axis=1) / (first.sum(axis=1) * second.sum(axis=1)))
