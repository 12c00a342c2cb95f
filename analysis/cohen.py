"""Cohen's kappa (1960, Educational and Psychological Measurement 20, 37-46) of pairs of raters.

Of more than two raters it is the mean over pairs (Light 1971, Psychological Bulletin 76, 365-377).
Gaps: a pair is compared on the units that both judged. Pairs with fewer than two such units, and
pairs without a kappa because both gave one category only, are left out and counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from analysis import agreement
from analysis.alpha import UNDEFINED
from analysis.ballots import Ballots, of_part
from analysis.groups import Asked
from analysis.intervals import NONE, Floats, Interval, t_interval
from analysis.kappas import Weights, agreement_weights, too_many
from analysis.votes import Ints

ROUNDING = 1e-12


@dataclass(frozen=True)
class Pairwise:
    """The mean kappa of pairs of raters, and of how many pairs and units it is the mean."""

    estimate: float
    interval: Interval
    pairs: int
    """Pairs of raters that share a unit at all."""
    used: int
    units: int

    @property
    def undefined(self) -> str | None:
        """Why there is no kappa, if there is none."""
        if self.used:
            return None
        who = f"none of {self.pairs} pairs of raters has"
        who = "the two raters do not have" if self.pairs == 1 else who
        return (
            f"{who} two items or more in common on which different categories were given; "
            "krippendorff_alpha needs no pair of raters to share more than one item"
        )


def cohen(given: Ballots, kind: Weights = "identity") -> Pairwise:
    """Return Cohen's kappa of the two raters, or the mean over all pairs of them.

    The interval is by the delta method over units, which for two raters is the standard error of
    Fleiss, Cohen & Everitt 1969 (Psychological Bulletin 72, 323-327).
    """
    met, rows = _shared(given)
    if len(rows.pair) == 0:
        return Pairwise(UNDEFINED, NONE, met, 0, 0)
    tables = _Tables(rows, 1 - agreement_weights(given.values, kind))
    used = int(tables.known.sum())
    if used == 0:
        return Pairwise(UNDEFINED, NONE, met, 0, 0)
    mean = float(tables.kappas.mean())
    of = tables.known[rows.pair]
    influence = np.bincount(rows.unit[of], weights=tables.derivatives[of]) / used
    units = len(np.unique(rows.unit[of]))
    low, high = t_interval(mean, float(np.sqrt((influence**2).sum())), units - 1)
    return Pairwise(mean, Interval(low, min(high, 1.0)), met, used, units)


def cohen_rows(asked: Iterable[Asked], kind: Weights) -> Iterator[dict[str, object]]:
    """Yield a row per question and part: Cohen's kappa, or the reason why there is none."""
    for question in asked:
        for system, places in agreement.parts(question):
            given = of_part(question, system, places)
            row: dict[str, object] = {**question.name, "system": system, "n": given.votes.units}
            reason = given.votes.undefined or too_many(given.votes)
            if reason is None:
                found = cohen(given, kind)
                reason = found.undefined
                row.update(estimate=found.estimate, n=found.units, pairs=found.pairs)
                row.update(low=found.interval.low, high=found.interval.high, pairs_used=found.used)
            yield {**row, "reason": reason}


@dataclass(frozen=True, eq=False)
class _Rows:
    """A row per unit that two raters both judged: the pair, the unit, what each of them said."""

    pair: Ints
    unit: Ints
    first: Ints
    second: Ints


def _shared(given: Ballots) -> tuple[int, _Rows]:
    """Return how many pairs share a unit, and the rows of those that share two or more."""
    order = np.lexsort((given.rater, given.unit))
    unit, rater, code = given.unit[order], given.rater[order], given.code[order]
    none = np.array([], dtype=np.int64)
    found = [(none, none, none, none)]
    for lag in range(1, int(np.bincount(unit).max(initial=0))):
        place = np.flatnonzero(unit[lag:] == unit[:-lag])
        pair = rater[place] * given.raters + rater[place + lag]
        found.append((pair, unit[place], code[place], code[place + lag]))
    name, unit, first, second = (np.concatenate(parts) for parts in zip(*found, strict=True))
    pair = pd.factorize(name)[0]
    often = np.bincount(pair)[pair] > 1
    kept = pd.factorize(pair[often])[0].astype(np.int64)
    met = int(pair.max(initial=-1)) + 1
    return met, _Rows(kept, unit[often], first[often], second[often])


class _Tables:
    """The table of each pair, by its margins and its disagreement, seen and expected."""

    def __init__(self, rows: _Rows, apart: Floats) -> None:
        self.rows, self.apart = rows, apart
        self.count = int(rows.pair.max()) + 1
        self.units = np.bincount(rows.pair).astype(float)
        self.row_apart: Floats = apart[rows.first, rows.second]
        seen = np.bincount(rows.pair, weights=self.row_apart, minlength=self.count)
        self.seen = seen.astype(float)
        first, second = self._margin(rows.first), self._margin(rows.second)
        self.of_first: Floats = second @ apart
        self.of_second: Floats = first @ apart
        self.expected: Floats = (self.of_first * first).sum(axis=1)

    @cached_property
    def known(self) -> np.ndarray:
        return np.asarray(self.expected > ROUNDING)

    @property
    def kappas(self) -> Floats:
        """Return kappa of each pair that has one."""
        share = self.units[self.known] * self.seen[self.known] / self.expected[self.known]
        return np.asarray(1 - share)

    @property
    def derivatives(self) -> Floats:
        """Return how the pair's kappa changes with the weight of each row."""
        rows, of = self.rows, self.rows.pair
        expected = np.where(self.known, self.expected, 1.0)[of]
        moved = self.of_first[of, rows.first] + self.of_second[of, rows.second]
        change = self.seen[of] + self.units[of] * self.row_apart
        product = self.units[of] * self.seen[of]
        return np.asarray(product * moved / expected**2 - change / expected)

    def _margin(self, codes: Ints) -> Floats:
        size = len(self.apart)
        cells = np.bincount(self.rows.pair * size + codes, minlength=self.count * size)
        return cells.reshape(self.count, size).astype(float)
