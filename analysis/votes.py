"""Votes: how often each category was given to each unit, kept once per distinct pattern of votes.

A unit is what several raters judged: an item, as one system answered it. A million units of five
raters on a five-point scale have at most 251 patterns, so coefficients and their resamples cost the
same for a thousand units and for a million, and a matrix is read in pieces that fill no memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from analysis.coding import Ints, Places, Scale, read, scale_of
from analysis.groups import Asked
from analysis.intervals import Floats

# Up to so many possible patterns are counted in an array, one cell each.
DIRECT = 1 << 20
# Units of a matrix that are read at once.
PIECE = 1 << 14


@dataclass(frozen=True, eq=False)
class Votes:
    """Patterns of two votes or more, how many units have each, and what was voted once only."""

    counts: Any
    """A sparse matrix, patterns by categories."""
    times: Floats
    values: Floats
    """Where each category stands: its number, or its place where categories are words."""
    level: Scale
    lone: Floats
    """How many units have each category as their only vote."""
    own: Floats | None = None
    """Of a resample of raters: the sum of squared weights of each pattern's raters."""

    @property
    def units(self) -> int:
        """How many units have two votes or more."""
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
        """How far the votes of each pattern agree, by the weights asked for: kept for resamples."""
        return {}

    @cached_property
    def drawn(self) -> dict[tuple[int, int], list[NDArray[np.integer]]]:
        """Resamples of the units by seed and number: kept for the next coefficient."""
        return {}

    @property
    def undefined(self) -> str | None:
        """Why no coefficient that corrects for chance by what was voted is defined, if none is."""
        if self.units == 0:
            return "no item was rated by two people or more"
        if len(np.unique(self.counts.indices)) < 2:
            return "one category only was ever given, so agreement by chance is certain"
        return None

    @property
    def unequal(self) -> str | None:
        """Why coefficients that need as many votes of each unit are undefined, if they are."""
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


def of_matrix(matrix: ArrayLike, level: Scale) -> Votes:
    """Return votes from a matrix of numbers, a row per rater, a column per unit, NaN for gaps."""
    given = np.asarray(matrix, dtype=float)
    # The first units mostly have all categories; where they have not, all units are looked at.
    for seen in (given[:, :PIECE], given):
        values = _distinct(seen)
        histogram = _histogram(given, values)
        if histogram is not None:
            return _from_histogram(histogram, given.shape[0] + 1, values, level)
    rater, unit = np.nonzero(~np.isnan(given))
    code = np.searchsorted(values, given[rater, unit])
    _, unit = np.unique(unit, return_inverse=True)
    return of_codes(unit, code, values, level)


def of_counts(counts: ArrayLike, values: Sequence[float] | Floats, level: Scale) -> Votes:
    """Return votes from a matrix of counts, a row per unit and a column per category."""
    patterns, times = np.unique(np.asarray(counts, dtype=float), axis=0, return_counts=True)
    return _split(sparse.csr_array(patterns), times.astype(float), np.asarray(values, float), level)


def votes(asked: Asked, name: str, places: Places, level: Scale | None = None) -> Votes:
    """Return the votes of a part of a question's rows; categories are those of all its rows.

    The part is called `name`: what two coefficients need of it is made once.
    """
    scale = level or scale_of(asked)

    def made() -> Votes:
        known = read(asked, scale)
        unit = pd.factorize(known.unit[places])[0].astype(np.int64)
        return of_codes(unit, known.code[places], known.values, scale)

    return asked.once(f"votes of {name}, {scale}", made)


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


def _distinct(matrix: Floats) -> Floats:
    """Return the numbers that a matrix holds, in order."""
    found = np.unique(matrix)
    return np.asarray(found[~np.isnan(found)], dtype=float)


def _histogram(matrix: Floats, values: Floats) -> Ints | None:
    """Return how many units have each key, the sum of base^category over a unit's votes.

    None where other numbers than `values` were met, or so many keys are possible that an array of
    them would not be small.
    """
    base = matrix.shape[0] + 1
    if base ** len(values) > DIRECT:
        return None
    total = np.zeros(base ** len(values), dtype=np.int64)
    for piece in _pieces(matrix):
        keys = np.zeros(piece.shape[1], dtype=np.int32)
        known = 0
        for place, value in enumerate(values):
            times = (piece == value).sum(axis=0, dtype=np.int32)
            known += int(times.sum())
            keys += times * np.int32(base**place)
        if known < piece.size - np.count_nonzero(np.isnan(piece)):
            return None
        total += np.bincount(keys, minlength=len(total))
    total[0] = 0
    return total


def _pieces(matrix: Floats) -> Iterator[Floats]:
    return (matrix[:, k : k + PIECE] for k in range(0, matrix.shape[1], PIECE))


# --- many possible patterns: units that share their first votes are told apart by the next -------


def _refined(unit: Ints, code: Ints, size: Ints, values: Floats, level: Scale) -> Votes:
    order = np.lexsort((code, unit))
    code, starts = code[order], np.concatenate([[0], np.cumsum(size)[:-1]])
    group = np.zeros(len(size), dtype=np.int64)
    for place in range(int(size.max(initial=0))):
        # 0 is for units without a further vote.
        following = np.zeros(len(size), dtype=np.int64)
        longer = size > place
        following[longer] = code[starts[longer] + place] + 1
        group = np.unique(group * (len(values) + 1) + following, return_inverse=True)[1]
    _, first, times = np.unique(group, return_index=True, return_counts=True)
    length = size[first]
    row = np.repeat(np.arange(len(first)), length)
    within = np.arange(length.sum()) - np.repeat(np.cumsum(length) - length, length)
    column = code[np.repeat(starts[first], length) + within]
    entries = (np.ones(len(row)), (row, column))
    counts = sparse.coo_array(entries, shape=(len(first), len(values))).tocsr()
    return _split(counts, times.astype(float), values, level)
