"""Variances that a plan rests on: published ones, or learned from a table of ratings.

All are standard deviations of one rating of one system. What a context does to all systems alike is
not among them, and a rater's severity counts only where each rater judges one system: it cancels
where a rater judges both systems of a pair.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from analysis.arguments import PUBLISHED_VARIANCES
from analysis.planning.components import cluster_sums, clustered_mean
from analysis.planning.paired import of_system, paired
from analysis.tables.options import BadOption
from analysis.tables.schema import RatingTable

LEAST_RATERS = 3


@dataclass(frozen=True)
class Variances:
    """Standard deviations in points of the scale.

    `taste` is of a rater's liking of a single system, `item` of a system's single replies or
    conversations, `noise` of single ratings, `severity` of what a rater does to all systems alike.
    """

    taste: float
    item: float
    noise: float
    severity: float = 0.0

    def times(self, width: float) -> Variances:
        """Return them on a scale that is `width` times as wide."""
        parts = (self.taste, self.item, self.noise, self.severity)
        return Variances(*(each * width for each in parts))


def half_differences(worker: float, item: float, noise: float) -> Variances:
    """Return the variances that Card et al. state, of effects on half a difference.

    They code two systems as -1 and +1, so an effect of `b` is a difference of 2b, and that is a
    difference of two ratings' effects.
    """
    return Variances(math.sqrt(2) * worker, math.sqrt(2) * item, noise)


# Card et al. 2020, With Little Power Comes Great Responsibility, EMNLP, section 5 and appendix; on
# a scale from 0 to 1. Effects of workers and items beside the systems' are .01 to .04, and cancel.
HIGH, LOW = half_differences(0.11, 0.14, 0.26), half_differences(0.04, 0.13, 0.16)
PUBLISHED = dict(zip(PUBLISHED_VARIANCES, (HIGH, LOW), strict=True))


def learned(ratings: RatingTable, question: str, *, own_raters: bool = False) -> Variances:
    """Return the variances of a question's ratings, the mean over all pairs of systems.

    Only raters who judged both systems of a pair count. Where a conversation was rated once, what
    is of conversations is in the noise. With `own_raters` it is the mean over systems, of whoever
    judged each: a rater's taste is part of `severity` then, and both are part of the noise where
    raters gave one rating each.

    Raises:
        BadOption: no pair of systems, or no system, was judged by as many as three raters.
    """
    systems = sorted(ratings.loc[ratings["question"] == question, "system"].unique())
    if own_raters:
        tables = [of_system(ratings, question, system) for system in systems]
        of_rater, shares, judged = "severity", 1, "a system"
    else:
        tables = [paired(ratings, question, *pair) for pair in combinations(systems, 2)]
        of_rater, shares, judged = "taste", 2, "two systems each"
    found = [
        clustered_mean(cluster_sums(values.value, values.rater, values.item))
        for values in tables
        if len(np.unique(values.rater)) >= LEAST_RATERS
    ]
    if not found:
        raise BadOption("question", question, f"one where at least three raters judged {judged}")
    parts = {of_rater: "rater", "item": "item", "noise": "noise"}
    means = {
        name: math.sqrt(float(np.mean([getattr(each, of) for each in found])) / shares)
        for name, of in parts.items()
    }
    return replace(Variances(0, 0, 0), **means)
