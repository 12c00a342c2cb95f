"""Votes: how often each unit got each category, kept once per distinct pattern of votes.

A unit is what several raters judged: an item, as one system answered it. A million units of five
raters on a five-point scale have at most 251 patterns, so coefficients and their resamples cost the
same for a thousand units and for a million.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any
from weakref import ref

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from analysis.scores.integer_codes import Ints, RowIndex, Scale, coded_question, scale_of
from analysis.scores.question_ratings import QuestionRatings
from analysis.stats.icc import RATED_ONCE
from analysis.stats.intervals import Floats

# Up to so many possible patterns are counted in an array, one cell each.
DIRECT = 1 << 20


@dataclass(frozen=True, eq=False)
class Votes:
    """Patterns of two votes or more, how many units have each, and what was voted once only."""

    counts: Any
    """A sparse matrix, patterns by categories."""
    times: Floats
    values: Floats
    """Value of each category: its number, or its position where categories are words."""
    level: Scale
    lone: Floats
    """Units with each category as their only vote."""
    own: Floats | None = None
    """Of a resample of raters: the sum of squared weights of each pattern's raters."""

    @property
    def units(self) -> int:
        """Number of units with two votes or more."""
        return int(self.times.sum())

    @property
    def ratings(self) -> int:
        """All votes, also those of units with one only."""
        return int(self.times @ self.per_unit + self.lone.sum())

    @cached_property
    def per_unit(self) -> Floats:
        return np.asarray(self.counts.sum(axis=1), dtype=float).ravel()

    @cached_property
    def pairs(self) -> Floats:
        """Return the ordered pairs of different raters in each pattern."""
        return self.per_unit**2 - (self.per_unit if self.own is None else self.own)

    @cached_property
    def agreed(self) -> dict[str, Floats]:
        """Agreement within each pattern by weights, kept for resamples."""
        return {}

    @cached_property
    def drawn(self) -> dict[tuple[int, int], list[NDArray[np.integer]]]:
        """Resamples of the units by seed and number: kept for the next coefficient."""
        return {}

    @cached_property
    def found(self) -> dict[tuple[int, int], dict[str, Floats]]:
        """Statistics of resamples that are too many to keep, by seed and number, then by name."""
        return {}

    @cached_property
    def left_out(self) -> dict[int, dict[str, tuple[Floats, Floats, Floats]]]:
        """Statistics without some of the units, by seed and name; how many, and how many alike."""
        return {}

    def frequencies(self, drawn: Floats) -> Floats:
        """Return how often each category was given in each resample (a row of `drawn`).

        Of the resamples asked for last it is kept, for the next coefficient.
        """
        known, found = self._last.get("drawn", (None, None))
        if found is None or known is None or known() is not drawn:
            found = np.asarray(drawn[:, : len(self.times)] @ self.counts)
            self._last["drawn"] = ref(drawn), found
        return found

    @cached_property
    def _last(self) -> dict[str, tuple[ref[Floats], Floats]]:
        return {}

    @cached_property
    def unit_shares(self) -> Any:
        """Return each pattern's share of votes by category, sparse like `counts`."""
        return sparse.diags_array(1 / self.per_unit) @ self.counts

    @property
    def undefined(self) -> str | None:
        """Reason why no coefficient that corrects for chance by the votes is defined, or None."""
        if self.units == 0:
            return RATED_ONCE
        if len(np.unique(self.counts.indices)) < 2:
            return "only one category was given, so agreement by chance is certain"
        return None

    @property
    def unequal(self) -> str | None:
        """Reason why coefficients that need equally many votes per unit are undefined, or None."""
        if self.units == 0:
            return self.undefined
        fewest = 1 if self.lone.any() else int(self.per_unit.min())
        most = int(self.per_unit.max())
        if fewest == most:
            return None
        return (
            f"items have {fewest} to {most} ratings, and Fleiss' kappa needs the same number of "
            "each; read fleiss_kappa_generalized or krippendorff_alpha"
        )


def of_codes(
    unit: NDArray[np.integer], code: NDArray[np.integer], values: Floats, level: Scale
) -> Votes:
    """Return votes from a row per rating: its unit and its category, both counted from 0."""
    size = np.bincount(unit)
    base = int(size.max(initial=0)) + 1
    if base ** len(values) <= DIRECT:
        powers = float(base) ** np.arange(len(values))
        keys = np.bincount(unit, weights=powers[code]).astype(np.int64)
        return _from_histogram(np.bincount(keys), base, values, level)
    return _refined(unit.astype(np.int64), code.astype(np.int64), size, values, level)


def votes(
    question: QuestionRatings, name: str, part: RowIndex, level: Scale | None = None
) -> Votes:
    """Return the votes of a part of a question's rows; categories are those of all its rows.

    The part is called `name`: what two coefficients need of it is made once.
    """
    scale = level or scale_of(question)

    def made() -> Votes:
        known = coded_question(question, scale)
        unit = question.once_of_design(
            f"units of {name}", lambda: pd.factorize(known.unit[part])[0].astype(np.int32)
        )
        return of_codes(unit, known.code[part], known.values, scale)

    return question.once(f"votes of {name}, {scale}", made)


def _split(counts: Any, times: Floats, values: Floats, level: Scale) -> Votes:
    """Return votes with the patterns of one vote set apart, and empty ones left out."""
    size = np.asarray(counts.sum(axis=1)).ravel()
    lone = np.asarray(counts[size == 1].T @ times[size == 1], dtype=float)
    shared = size > 1
    return Votes(counts[shared].tocsr(), times[shared], values, level, lone)


# --- few possible patterns: a key per unit, and a count per key ---------------------------------


def _from_histogram(histogram: Ints, base: int, values: Floats, level: Scale) -> Votes:
    keys = np.flatnonzero(histogram)
    digits = keys[:, None] // base ** np.arange(len(values)) % base
    counts = sparse.csr_array(digits.astype(float))
    return _split(counts, histogram[keys].astype(float), values, level)


# --- many possible patterns: units that share their first votes are told apart by the next -------


def _refined(unit: Ints, code: Ints, size: Ints, values: Floats, level: Scale) -> Votes:
    order = np.lexsort((code, unit))
    code, starts = code[order], np.concatenate([[0], np.cumsum(size)[:-1]])
    group = np.zeros(len(size), dtype=np.int64)
    for index in range(int(size.max(initial=0))):
        # 0 is for units without a further vote.
        following = np.zeros(len(size), dtype=np.int64)
        longer = size > index
        following[longer] = code[starts[longer] + index] + 1
        group = np.unique(group * (len(values) + 1) + following, return_inverse=True)[1]
    _, first, times = np.unique(group, return_index=True, return_counts=True)
    length = size[first]
    row = np.repeat(np.arange(len(first)), length)
    within = np.arange(length.sum()) - np.repeat(np.cumsum(length) - length, length)
    column = code[np.repeat(starts[first], length) + within]
    entries = (np.ones(len(row)), (row, column))
    counts = sparse.coo_array(entries, shape=(len(first), len(values))).tocsr()
    return _split(counts, times.astype(float), values, level)
