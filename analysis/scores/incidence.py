"""Incidence: what rater, item and conversation each rating is of, and which can be told apart.

The random effects of the crossed model (`analysis.scores.crossed`). An effect is in the model where
its variance is identified: quadratic forms of within-system residuals, one per effect, must have
linearly independent expectations (Rao 1971, J. Multivariate Analysis 1, 257-275: the equations of
MINQUE with all weight on the residual). So an effect with a level per rating, or one level per
system, or the same levels as another is left out, and so is one that others add up to.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from analysis.stats.intervals import Floats

Ints = NDArray[np.integer]

RESIDUAL = "residual"
# Of an effect's own equation this share must be left beside those of the effects before it.
INDEPENDENT = 1e-7
# Codes up to so many times their number are counted, which is faster than sorting them.
COUNTED = 4


@dataclass(frozen=True, eq=False)
class Incidence:
    """Ratings as codes: `system` has fixed effects, `effects` those identified, in order of name.

    `confounded` names effects of which each system has one level only, such as raters where one
    judged all of a system: its score is then that level's. `equations` has what each variance adds
    to each quadratic form, the residual's first: entry (k, l) is the squared Frobenius norm of
    Z_k' M Z_l, where M takes the systems' means out.
    """

    systems: int
    system: Ints
    effects: Mapping[str, Ints]
    confounded: tuple[str, ...]
    equations: Floats

    @property
    def ratings(self) -> int:
        return len(self.system)

    @cached_property
    def n(self) -> Floats:
        """Ratings per system."""
        return np.bincount(self.system, minlength=self.systems).astype(float)

    @cached_property
    def levels(self) -> tuple[int, ...]:
        """Levels of each effect."""
        return tuple(int(codes.max()) + 1 for codes in self.effects.values())

    @cached_property
    def by_system(self) -> tuple[sparse.csr_array, ...]:
        """Ratings per level and system, a matrix per effect (levels x systems)."""
        columns = [self.effects[name] for name in self.effects]
        return tuple(crossed(codes, self.system, self.systems) for codes in columns)


def incidence(system: Ints, effects: Mapping[str, Ints]) -> Incidence:
    """Return the incidence of ratings whose systems and other codes are counted from 0.

    Of `effects` the earlier is kept where two cannot be told apart.
    """
    return of_identified(system, effects, identified(system, effects))


class Identified(NamedTuple):
    """Names of effects that can be told apart, of those confounded, and equations, as above."""

    effects: tuple[str, ...]
    confounded: tuple[str, ...]
    equations: Floats


def of_identified(system: Ints, effects: Mapping[str, Ints], known: Identified) -> Incidence:
    """Return the incidence of the same ratings in some order, of which this is known."""
    kept = {name: effects[name] for name in known.effects}
    return Incidence(int(system.max()) + 1, system, kept, known.confounded, known.equations)


def identified(system: Ints, effects: Mapping[str, Ints]) -> Identified:
    """Return which effects are in the model; of those that are alike, the earlier."""
    several = {name: codes for name, codes in effects.items() if len(codes) and codes.max() > 0}
    parts = {name: crossed(codes, system, int(system.max()) + 1) for name, codes in several.items()}
    confounded = tuple(name for name, counts in parts.items() if _one_each(counts))
    # A level per rating is the residual, and is costly to find out.
    several = {name: codes for name, codes in several.items() if codes.max() + 1 < len(codes)}
    equations = _equations(system, several)
    kept = _independent(equations, several)
    chosen = np.flatnonzero([True, *kept.values()])
    found = tuple(name for name in several if kept[name])
    return Identified(found, confounded, equations[np.ix_(chosen, chosen)])


def crossed(one: Ints, other: Ints, columns: int) -> sparse.csr_array:
    """Return counts of the codes of both, a row per code of the one."""
    ones, shape = np.ones(len(one)), (int(one.max()) + 1, columns)
    return sparse.coo_array((ones, (one, other)), shape=shape).tocsr()


def _equations(system: Ints, effects: Mapping[str, Ints]) -> Floats:
    n = np.bincount(system).astype(float)
    codes = list(effects.values())
    counts = [crossed(one, system, len(n)) for one in codes]
    shares = [(each / n).tocsr() for each in counts]
    within = [np.asarray((a.T @ b).todense()) for a, b in zip(counts, shares, strict=True)]
    matrix = np.zeros((len(codes) + 1, len(codes) + 1))
    matrix[0, 0] = len(system) - len(n)
    for k, one in enumerate(codes):
        matrix[0, k + 1] = matrix[k + 1, 0] = len(system) - float(np.trace(within[k]))
        for m in range(k + 1):
            both = crossed(one, codes[m], int(codes[m].max()) + 1)
            mixed = float((both @ shares[m]).multiply(counts[k]).sum())
            square = float((within[k] * within[m].T).sum())
            value = float((both.data**2).sum()) - 2 * mixed + square
            matrix[k + 1, m + 1] = matrix[m + 1, k + 1] = value
    return matrix


def _independent(matrix: Floats, names: Iterable[str]) -> dict[str, bool]:
    """Tell of each effect whether its equation adds to those kept before it."""
    if not matrix[0, 0]:  # a rating per system, so that nothing is left to vary
        return dict.fromkeys(names, False)
    kept, good = [0], {}
    for k, name in enumerate(names, start=1):
        own, across = matrix[k, k], matrix[kept, k]
        left = own - across @ np.linalg.solve(matrix[np.ix_(kept, kept)], across)
        good[name] = bool(left > INDEPENDENT * own)
        kept += [k] if good[name] else []
    return good


def _one_each(counts: sparse.csr_array) -> bool:
    """Tell whether each system has ratings at one level only."""
    return bool((np.diff(counts.tocsc().indptr) == 1).all())


def together(one: Ints, other: Ints) -> Ints:
    """Return codes of the combinations of both that there are."""
    both = one.astype(np.int64, copy=False) * (int(other.max(initial=0)) + 1)
    both += other
    return np.asarray(pd.factorize(both)[0])


def distinct(codes: Ints) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the codes that there are, in order, and of each row the place of its own."""
    if int(codes.max(initial=0)) > COUNTED * len(codes):
        found, position = np.unique(codes, return_inverse=True)
        return found.astype(np.intp), position
    is_there = np.bincount(codes) > 0
    return np.flatnonzero(is_there), (np.cumsum(is_there) - 1)[codes]
