"""Alternative annotator test: whether a judge may stand in for one of the raters.

Calderon, Reichart & Dror (2025, ACL, "The Alternative Annotator Test for LLM-as-a-Judge"): each
rater is left out in turn, and it is counted on how many items the judge agrees with the other
raters at least as well as the one left out. A rater is beaten where the judge's advantage is
significant once `epsilon` is granted to people for their price (one-sided t test, Benjamini &
Yekutieli 2001 over raters); the judge passes if at least half of the raters are beaten. Apart
because notebooks use it without a command.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy import special

from analysis.stats.intervals import Floats

SIMULATED_AS = ("annotator test",)

LEAST_ITEMS = 30
FALSE_DISCOVERIES = 0.05
HALF = 0.5
Ratings = Mapping[str, Mapping[str, float]]


@dataclass(frozen=True)
class AnnotatorTest:
    """The winning rate ω, the average advantage probability ρ, and what both rest on.

    `advantages` and `p` are by rater; `skipped` are raters with fewer than 30 items that somebody
    else rated too. ω and ρ are NaN where all are.
    """

    winning_rate: float
    advantage: float
    advantages: Mapping[str, float]
    p: Mapping[str, float]
    skipped: tuple[str, ...]

    @property
    def passes(self) -> bool:
        """Whether the judge beats half of the raters."""
        return self.winning_rate >= HALF


def annotator_test(
    ratings: Ratings, judge: Mapping[str, float], *, epsilon: float = 0.2, nominal: bool = False
) -> AnnotatorTest:
    """Return the test of a judge's ratings by item against those of raters, by rater and item.

    Agreement with the other raters is the share of equal answers if `nominal`, else the root mean
    squared distance. The paper advises an epsilon of .2 for experts, .15 for skilled people and .1
    for crowds.
    """
    advantages, p, skipped = {}, {}, []
    for rater in ratings:
        judged, own = _indicators(ratings, judge, rater, nominal)
        if len(judged) < LEAST_ITEMS:
            skipped.append(rater)
            continue
        advantages[rater] = float(judged.mean())
        p[rater] = _p_below(own - judged, epsilon)
    beaten = rejected(np.array(list(p.values())), FALSE_DISCOVERIES)
    nan = float("nan")
    return AnnotatorTest(
        winning_rate=beaten / len(p) if p else nan,
        advantage=float(np.mean(list(advantages.values()))) if advantages else nan,
        advantages=advantages,
        p=p,
        skipped=tuple(skipped),
    )


def _indicators(
    ratings: Ratings, judge: Mapping[str, float], rater: str, nominal: bool
) -> tuple[Floats, Floats]:
    """Return, by item, whether the judge is as near to the others as the rater, and the reverse."""
    judged, own = [], []
    for item, value in ratings[rater].items():
        others = [each[item] for name, each in ratings.items() if name != rater and item in each]
        if item in judge and others:
            far = _distance(judge[item], others, nominal), _distance(value, others, nominal)
            judged.append(far[0] <= far[1])
            own.append(far[1] <= far[0])
    return np.array(judged, dtype=float), np.array(own, dtype=float)


def _distance(value: float, others: list[float], nominal: bool) -> float:
    gaps = np.array(others) - value
    return float(np.mean(gaps != 0)) if nominal else float(np.sqrt(np.mean(gaps**2)))


def _p_below(values: Floats, mean: float) -> float:
    """Return the p value that the mean is below this (Student's t, one-sided)."""
    error = float(values.std(ddof=1)) / np.sqrt(len(values))
    gap = float(values.mean()) - mean
    if error == 0:
        return float(gap >= 0)
    return float(special.stdtr(len(values) - 1, gap / error))


def rejected(p: Floats, rate: float) -> int:
    """Return how many hypotheses fall at a rate of false discoveries, however they depend.

    Benjamini & Yekutieli (2001, Annals of Statistics 29, 1165-1188, theorem 1.3).
    """
    count = len(p)
    if not count:
        return 0
    ranks = np.arange(1, count + 1)
    below = np.sort(p) <= ranks * rate / (count * (1 / ranks).sum())
    return int(ranks[below].max()) if below.any() else 0
