"""Gradients and information of each comparison or ranking, for errors that are clustered.

Of Bradley & Terry 1952 with ties as half a win, of Davidson 1970 with ties as an outcome (JASA 65,
eq. 2.4), both with columns of what else may tell (order: Davidson & Beaver 1977), and of Plackett
1975 with Luce 1959. Apart from the fits, which need counts only.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse, special

from analysis.comparisons.bradley_terry import Abilities
from analysis.comparisons.clustered import Gradients
from analysis.comparisons.preferences import Compared
from analysis.stats.intervals import Floats


def design(found: Compared, *more: Floats) -> Any:
    """Return a row per comparison: 1 for the first shown, -1 for the second, then `more`."""
    count, size, width = len(found.first), len(found.systems), 2 + len(more)
    columns, data = np.empty((count, width), dtype=np.int32), np.empty((count, width))
    columns[:, 0], columns[:, 1] = found.first, found.second
    columns[:, 2:] = np.arange(size, size + len(more))
    data[:, 0], data[:, 1] = 1, -1
    for k, column in enumerate(more):
        data[:, 2 + k] = column
    ends = np.arange(0, width * count + 1, width, dtype=np.int32)
    shape = (count, size + len(more))
    return sparse.csr_array((data.ravel(), columns.ravel(), ends), shape=shape)


def of_halves(found: Compared, rows: Any, at: Floats) -> Gradients:
    """Return Bradley and Terry's, a tie half a win; `rows` is of `design`, `at` its parameters."""
    chance = special.expit(rows @ at)
    gradients = _times(rows, found.points / 2 - chance)
    roots = _times(rows, np.sqrt(chance * (1 - chance)))
    return Gradients(gradients, roots, np.arange(len(chance)), len(found.systems))


def of_ties(found: Compared, fitted: Abilities) -> Gradients:
    """Return Davidson's of abilities, the log advantage where there is one, and log nu."""
    more = [] if fitted.first is None else [np.ones(len(found.first))]
    rows = design(found, *more) / 2
    at = np.append(fitted.mean, [] if fitted.first is None else fitted.first)
    tie = np.log(fitted.tie if fitted.tie else 0.0)
    half = rows @ at
    logits = np.column_stack([-half, np.full_like(half, tie), half])
    chances = special.softmax(logits, axis=1)
    ahead, tied = chances[:, 2] - chances[:, 0], chances[:, 1]
    side = found.points.astype(float) - 1
    gradients = _beside(_times(rows, side - ahead), (side == 0) - tied)
    # Outcomes less their mean, each times the root of its chance.
    roots = [
        _beside(_times(rows, root * (way - ahead)), root * ((way == 0) - tied))
        for way, root in zip((-1, 0, 1), np.sqrt(chances.T), strict=True)
    ]
    act = np.tile(np.arange(len(half)), 3)
    return Gradients(gradients, sparse.vstack(roots, format="csr"), act, len(found.systems))


def of_rankings(rankings: np.ndarray, worth: Floats) -> Gradients:
    """Return Plackett and Luce's; `rankings` [n, k] is as in `plackett_luce.fit`."""
    count, size = len(rankings), len(worth)
    gradients, roots, acts = np.zeros((count, size)), [], []
    for index in range(rankings.shape[1] - 1):
        act = np.flatnonzero(rankings[:, index + 1] >= 0)
        left = rankings[act, index:]
        logits = np.where(left >= 0, worth[left], -np.inf)
        shares = np.zeros((len(act), size))
        row, at = np.nonzero(left >= 0)
        shares[row, left[row, at]] = special.softmax(logits, axis=1)[row, at]
        gradients[act] -= shares
        gradients[act, left[:, 0]] += 1
        for system in range(size):
            own = shares[:, system] > 0
            apart = (np.arange(size) == system) - shares[own]
            roots.append(sparse.csr_array(apart * np.sqrt(shares[own, system, None])))
            acts.append(act[own])
    whole = sparse.vstack(roots, format="csr")
    return Gradients(sparse.csr_array(gradients), whole, np.concatenate(acts), size)


def _times(rows: Any, factor: Floats) -> Any:
    data = rows.data * np.repeat(factor, np.diff(rows.indptr))
    # Copies, since scipy sorts the indices of a matrix in place, and its data along.
    where = rows.indices.copy(), rows.indptr.copy()
    return sparse.csr_array((data, *where), shape=rows.shape)


def _beside(rows: Any, column: Floats) -> Any:
    return sparse.hstack([rows, sparse.csr_array(column[:, None])], format="csr")
