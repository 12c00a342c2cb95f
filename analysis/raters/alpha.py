"""Krippendorff's alpha of many resamples at once, from distinct patterns of votes.

Krippendorff's coincidences (2011, Computing Krippendorff's Alpha-Reliability) are sums over units,
so alpha of a resample needs only how often each pattern was drawn. Gaps: a unit counts with the
votes that it has, by 1/(m - 1); units with one vote are left out, as the paper does.
"""

from __future__ import annotations

import numpy as np

from analysis.raters.votes import Votes
from analysis.stats.intervals import Floats

UNDEFINED = float("nan")


def alpha(votes: Votes) -> float:
    """Return alpha of votes; NaN where `votes.undefined` says why."""
    return float(alphas(votes, votes.times[None, :])[0])


def alphas(votes: Votes, drawn: Floats) -> Floats:
    """Return alpha of each resample (a row of `drawn`: how often each pattern)."""
    frequencies = votes.frequencies(drawn)
    drawn = drawn[:, : len(votes.times)]
    total = frequencies.sum(axis=1)
    # A resample of raters weighs votes: pairs of a rater with itself are none.
    weight = votes.per_unit / votes.pairs
    if votes.level == "ordinal":
        points = np.cumsum(frequencies, axis=1) - frequencies / 2
        middle = (frequencies * points).sum(axis=1) / np.maximum(total, 1)
        points -= middle[:, None]
        observed = ((drawn * weight) * _scatter(votes, points)).sum(axis=1)
        expected = _expected(frequencies, points)
    elif votes.level == "ratio":
        distances = _ratio(votes.values)
        within = (votes.counts * (votes.counts @ distances)).sum(axis=1)
        observed = drawn @ (weight * np.asarray(within).ravel())
        expected = ((frequencies @ distances) * frequencies).sum(axis=1)
    elif votes.level == "interval":
        points = _centered(votes)[None, :]
        observed = drawn @ (weight * _scatter(votes, points)[0])
        expected = _expected(frequencies, points)
    else:
        alike = np.asarray(votes.counts.power(2).sum(axis=1)).ravel()
        observed = drawn @ (weight * (votes.per_unit**2 - alike))
        expected = total**2 - (frequencies**2).sum(axis=1)
    # Rounding leaves a trace of disagreement where there is one category only.
    defined = ((frequencies > 0).sum(axis=1) > 1) & (expected > 0)
    share = np.divide(observed * (total - 1), expected, out=np.ones_like(total), where=defined)
    return np.where(defined, 1 - share, UNDEFINED)


def _centered(votes: Votes) -> Floats:
    """Return the values around their mean, so that squares of large values keep their digits."""
    totals = votes.times @ votes.counts
    return votes.values - float(totals @ votes.values) / max(float(totals.sum()), 1.0)


def _ratio(values: Floats) -> Floats:
    """Return ((c - k) / (c + k))²; two zeros are no distance apart."""
    sums = values[:, None] + values[None, :]
    gaps = values[:, None] - values[None, :]
    return np.divide(gaps, sums, out=np.zeros_like(gaps), where=sums != 0) ** 2


def _scatter(votes: Votes, points: Floats) -> Floats:
    """Return, per resample and pattern, the squared distances summed over ordered pairs.

    The ordinal distance of the paper, the ratings between two categories with half of each, is
    the difference of their middle ranks.
    """
    squares, sums = votes.counts @ (points**2).T, votes.counts @ points.T
    return np.asarray(2 * (votes.per_unit[:, None] * squares - sums**2)).T


def _expected(frequencies: Floats, points: Floats) -> Floats:
    total = frequencies.sum(axis=1)
    squares, sums = (frequencies * points**2).sum(axis=1), (frequencies * points).sum(axis=1)
    return np.asarray(2 * (total * squares - sums**2))
