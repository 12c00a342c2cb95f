"""Chance-corrected agreement by the categories used: Fleiss, Gwet, Brennan-Prediger.

All are (p_a - p_e) / (1 - p_e) with the same p_a, the share of pairs of raters that agree, over
units with two votes or more (Gwet 2014, Handbook of Inter-Rater Reliability, 4th ed., chapters 2
to 5). Gaps, as in that book: shares of categories are means over all units with a vote, each unit
counting once, those with one vote too. Weights give part of an agreement to votes that are near.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from analysis.raters.alpha import UNDEFINED
from analysis.raters.votes import Votes
from analysis.stats.intervals import Floats

Weights = Literal["identity", "linear", "quadratic", "ordinal"]
Chance = Callable[[Floats, Floats], Floats]
# A matrix of weights between more categories than this would say nothing and fill the memory.
MOST_CATEGORIES = 1000
NEAR = 4096  # patterns looked at together: each has a number for every category


def agreement_weights(values: Floats, kind: Weights) -> Floats:
    """Return how far each category agrees with each, 1 with itself (Gwet 2014, section 3.5)."""
    if kind == "identity":
        return np.asarray(np.eye(len(values)), dtype=float)
    if kind == "ordinal":
        points = np.arange(len(values))
        between = np.abs(points[:, None] - points[None, :]) + 1.0
        distances = between * (between - 1) / 2
    else:
        distances = np.abs(values[:, None] - values[None, :])
        distances = distances if kind == "linear" else distances**2
    largest = float(distances.max(initial=0)) or 1.0
    return np.asarray(1 - distances / largest, dtype=float)


def agreements(votes: Votes, kind: Weights = "identity") -> Floats:
    """Return each pattern's share of pairs of raters that agree (Fleiss 1971)."""
    if kind not in votes.agreed:
        votes.agreed[kind] = _agreements(votes, kind)
    return votes.agreed[kind]


def _agreements(votes: Votes, kind: Weights) -> Floats:
    if kind == "identity":
        near = _sums(votes.counts.power(2))
    else:
        weights = agreement_weights(votes.values, kind)
        pieces = [votes.counts[at : at + NEAR] for at in range(0, len(votes.times), NEAR)]
        none = [np.zeros(0)]
        near = np.concatenate(none + [_sums(piece * (piece @ weights)) for piece in pieces])
    own = votes.per_unit**2 - votes.pairs
    return np.asarray((near - own) / votes.pairs)


def _sums(rows: Any) -> Floats:
    return np.asarray(rows.sum(axis=1), dtype=float).ravel()


def percents(votes: Votes, drawn: Floats, kind: Weights = "identity") -> Floats:
    """Return the mean agreement of each resample (a row of `drawn`: how often each pattern)."""
    drawn = drawn[:, : len(votes.times)]
    total = drawn.sum(axis=1)
    observed = drawn @ agreements(votes, kind)
    out = np.full_like(total, UNDEFINED)
    return np.asarray(np.divide(observed, total, out=out, where=total > 0))


def fleiss(votes: Votes, drawn: Floats, kind: Weights = "identity") -> Floats:
    """Return Fleiss' kappa (1971), with gaps as Gwet 2014 (eq. 2.11) has it."""
    return _corrected(
        votes, drawn, kind, lambda shares, near: ((shares @ near) * shares).sum(axis=1)
    )


def gwet(votes: Votes, drawn: Floats, kind: Weights = "identity") -> Floats:
    """Return AC1, or AC2 with weights (Gwet 2008, Br. J. Math. Stat. Psychol. 61, 29-48)."""

    def chance(shares: Floats, near: Floats) -> Floats:
        size = len(near)
        hard = (shares * (1 - shares)).sum(axis=1)
        return np.asarray(near.sum() * hard / max(size * (size - 1), 1))

    return _corrected(votes, drawn, kind, chance)


def brennan_prediger(votes: Votes, drawn: Floats, kind: Weights = "identity") -> Floats:
    """Return the coefficient whose chance is uniform (Brennan & Prediger 1981)."""
    return _corrected(votes, drawn, kind, lambda shares, near: np.full(len(shares), near.mean()))


def all_times(votes: Votes) -> Floats:
    """Return how many units have each pattern, then each category as their only vote."""
    return np.concatenate([votes.times, votes.lone])


def estimate(votes: Votes, statistic: Callable[[Votes, Floats], Floats]) -> float:
    """Return a statistic of resamples, of the votes themselves."""
    return float(statistic(votes, all_times(votes)[None, :])[0])


def no_chance(votes: Votes) -> str | None:
    """Return why AC1 and AC2 are undefined, if they are; a category that nobody used is one too."""
    if votes.units == 0:
        return votes.undefined
    if len(votes.values) < 2:
        return "only one category was given, so nothing is known of the others"
    return None


def too_many(votes: Votes) -> str | None:
    """Return why weights between categories cannot be used, if they cannot."""
    if len(votes.values) <= MOST_CATEGORIES:
        return None
    return (
        f"{len(votes.values)} different values were given, and categories are what this "
        "coefficient counts; Krippendorff's alpha and ICC take values as they are"
    )


def _shares(votes: Votes, drawn: Floats) -> Floats:
    """Return each category's share, a unit counting once however many votes it has."""
    patterns, size = len(votes.times), votes.per_unit[:1]
    if (votes.per_unit == size).all():  # shares are what alpha counts too, divided once
        shared = votes.frequencies(drawn) / size
    else:
        shared = drawn[:, :patterns] @ votes.unit_shares
    return np.asarray((shared + drawn[:, patterns:]) / drawn.sum(axis=1)[:, None])


def _corrected(votes: Votes, drawn: Floats, kind: Weights, chance: Chance) -> Floats:
    observed = percents(votes, drawn, kind)
    expected = chance(_shares(votes, drawn), agreement_weights(votes.values, kind))
    # One category only leaves 1 - p_e a rounding error, or nothing.
    headroom = 1 - expected
    defined = np.isfinite(observed) & (headroom > 1e-12)
    out = np.full_like(observed, UNDEFINED)
    return np.divide(observed - expected, headroom, out=out, where=defined)
