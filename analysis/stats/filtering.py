"""Filtering by a score: precision and recall of what is bad, and the area under their curve.

PERSONA-METRICS (Miyazaki et al. 2021): an utterance is extracted as inappropriate where
its score is at most θ (at least θ, where high scores are bad); θ goes through all scores. The area
is the average precision, a sum of steps, by default; the trapezoid interpolates where it should
not (Davis & Goadrich 2006). Chance is the share of bad ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np
import numpy.typing as npt
from numpy.typing import ArrayLike

from analysis.stats.intervals import Floats, Interval, bootstrap, by_content, percentile_interval

SIMULATED_AS = ("areas",)

AreaRule = Literal["step", "trapezoid"]
UNDEFINED = float("nan")


@dataclass(frozen=True, eq=False)
class Curve:
    """Precision and recall at each threshold, from the strictest to the one that takes all."""

    thresholds: Floats
    precision: Floats
    recall: Floats
    prevalence: float
    n: int

    def area(self, rule: AreaRule = "step") -> float:
        """Return the area under the curve, by steps or by trapezoids from recall 0."""
        recall = np.append(0.0, self.recall)
        if rule == "step":
            return float((np.diff(recall) * self.precision).sum())
        # Left of the strictest threshold precision is taken to be what it is there.
        return float(np.trapezoid(np.append(self.precision[:1], self.precision), recall))


@dataclass(frozen=True)
class Threshold:
    """Where to cut: what is at most `value` is taken, or at least, where high scores are bad."""

    value: float
    low_is_bad: bool
    precision: float
    recall: float
    prevalence: float
    taken: int
    n: int

    def takes(self, scores: ArrayLike) -> npt.NDArray[np.bool_]:
        """Tell of each score whether it is taken; one that is not a number never is."""
        values = np.asarray(scores, dtype=float)
        return values <= self.value if self.low_is_bad else values >= self.value


def threshold(
    scores: ArrayLike, bad: ArrayLike, *, precision: float, low_is_bad: bool = True
) -> Threshold | None:
    """Return the threshold of most recall whose precision is that or better; None without one."""
    found = curve(scores, bad, low_is_bad=low_is_bad)
    if found is None:
        return None
    reached = np.flatnonzero(found.precision >= precision - 1e-12)
    if not len(reached):
        return None
    at = int(reached[-1])  # recall never falls along the curve
    taken = np.asarray(scores, dtype=float)
    value = float(found.thresholds[at])
    count = int((taken <= value if low_is_bad else taken >= value).sum())
    shares = (float(found.precision[at]), float(found.recall[at]), found.prevalence)
    return Threshold(value, low_is_bad, *shares, count, found.n)


def curve(scores: ArrayLike, bad: ArrayLike, *, low_is_bad: bool = True) -> Curve | None:
    """Return the curve; None where none or nothing is bad to be found."""
    values, is_bad = np.asarray(scores, dtype=float), np.asarray(bad, dtype=bool)
    known = np.isfinite(values)
    values, is_bad = values[known], is_bad[known]
    if not is_bad.any():
        return None
    order = np.argsort(values if low_is_bad else -values, kind="stable")
    ordered, found = values[order], np.cumsum(is_bad[order])
    last = np.flatnonzero(np.append(ordered[1:] != ordered[:-1], True))
    return Curve(
        thresholds=ordered[last],
        precision=found[last] / (last + 1),
        recall=found[last] / found[-1],
        prevalence=float(is_bad.mean()),
        n=len(values),
    )


def area_interval(
    scores: ArrayLike,
    bad: ArrayLike,
    *,
    low_is_bad: bool = True,
    rule: AreaRule = "step",
    seed: int = 0,
) -> Interval:
    """Return the bootstrap interval over utterances of the area under the curve."""
    values = np.asarray(scores, dtype=float) * (1 if low_is_bad else -1)
    is_bad = np.asarray(bad, dtype=float)
    order = by_content(values, is_bad)
    statistic = partial(_areas, values[order], is_bad[order], rule)
    return percentile_interval(bootstrap(statistic, len(values), seed=seed))


def _areas(scores: Floats, bad: Floats, rule: AreaRule, drawn: Floats) -> Floats:
    """Return the area of each resample; `drawn` says how often each utterance is in it."""
    last = np.flatnonzero(np.append(np.diff(scores) != 0, True))
    hits = np.cumsum(drawn * bad, axis=1)[:, last]
    taken = np.cumsum(drawn, axis=1)[:, last]
    total = hits[:, -1:]
    with np.errstate(invalid="ignore", divide="ignore"):
        precision = np.where(taken > 0, hits / taken, 0.0)
        recall = np.hstack([np.zeros_like(total), hits / total])
    steps = np.diff(recall, axis=1)
    if rule == "trapezoid":
        before = np.hstack([precision[:, :1], precision[:, :-1]])
        precision = (precision + before) / 2
    return np.asarray((steps * precision).sum(axis=1))
