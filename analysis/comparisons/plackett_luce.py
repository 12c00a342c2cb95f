"""Plackett-Luce worths of systems from rankings without ties (1975; 1959), by Hunter's MM.

The probability of a ranking is the product, from the top, of a system's worth over the sum of the
worths still to be placed. Hunter 2004 (Annals of Statistics 32, section 5) gives the iteration,
which goes up in likelihood and, where Ford's condition holds, to its maximum. All resamples of a
bootstrap are climbed together, by Newton's method: the same set to choose from is counted once.
Apart because the fit takes rankings as numbers, and is compared with choix as such.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from analysis.stats.intervals import Floats

ITERATIONS = 5000
TOLERANCE = 1e-10
STEPS = 60
HALVINGS = 40


def fit(rankings: np.ndarray, systems: int, weights: Floats, start: Floats | None = None) -> Floats:
    """Return log-worths around a mean of 0.

    `rankings` [n, k] holds systems from best to worst, -1 after the last; `weights` [n] counts.
    """
    there = rankings >= 0
    following = np.zeros_like(there)
    following[:, :-1] = there[:, 1:]
    chosen = np.where(there, rankings, 0)
    placed = np.broadcast_to(weights[:, None], rankings.shape)
    wins = np.bincount(chosen[following], placed[following], minlength=systems)
    worth = np.ones(systems) if start is None else np.exp(start)
    for _ in range(ITERATIONS):
        before = worth
        held = np.where(there, worth[chosen], 0.0)
        left = held[:, ::-1].cumsum(axis=1)[:, ::-1]
        shares = np.where(following, weights[:, None] / np.where(following, left, 1.0), 0.0)
        owed = shares.cumsum(axis=1)
        total = np.bincount(chosen[there], owed[there], minlength=systems)
        worth = wins / total
        worth = worth / np.exp(np.log(worth).mean())
        if np.abs(np.log(worth / before)).max() < TOLERANCE:
            break
    return np.asarray(np.log(worth), dtype=float)


class Choices:
    """Choices of each rater, rank by rank, and the set of systems chosen from.

    `rankings` is as in `fit`; `rater` [n] counts from 0. The matrices are sparse: raters by
    systems, by sets, and by pairs of systems of which one was placed right above the other.
    """

    def __init__(self, rankings: np.ndarray, systems: int, rater: np.ndarray) -> None:
        self.systems = systems
        row, index = np.nonzero(rankings[:, 1:] >= 0)
        chosen, below, who = rankings[row, index], rankings[row, index + 1], rater[row]
        shown = np.zeros((*rankings.shape, systems), dtype=bool)
        met, at = np.nonzero(rankings >= 0)
        shown[met, at, rankings[met, at]] = True
        left = np.logical_or.accumulate(shown[:, ::-1], axis=1)[:, ::-1][row, index]
        bits, of = np.unique(np.packbits(left, axis=1), axis=0, return_inverse=True)
        members = np.unpackbits(bits, axis=1, count=systems).astype(float)
        self.sets: Any = sparse.csr_array(members)
        one, other = np.divmod(np.arange(systems**2), systems)
        self.pairs: Any = sparse.csr_array(self.sets[:, one] * self.sets[:, other])
        self.wins = _counted(who, chosen, systems)
        self.times = _counted(who, of.ravel(), len(members))
        self.above = _counted(who, chosen * systems + below, systems**2)

    @property
    def cells(self) -> int:
        """Return what a resample takes in memory."""
        return int(max(self.sets.shape[0], self.systems**2))

    def ordered(self, weights: Floats) -> Floats:
        """Return how often each system was placed right above each [resample, above, below].

        A row of `weights` says how often each rater was drawn.
        """
        found = np.asarray(weights @ self.above)
        return found.reshape(len(weights), self.systems, self.systems)

    def worths(self, weights: Floats, start: Floats) -> Floats:
        """Return log-worths around a mean of 0 of each resample, whose maximum must exist."""
        wins, times = np.asarray(weights @ self.wins), np.asarray(weights @ self.times)
        now = np.broadcast_to(start, wins.shape).copy()
        for _ in range(STEPS):
            step = self._step(now, wins, times)
            now += self._shares(now, step, wins, times) * step
            if np.abs(step).max(initial=0.0) < TOLERANCE:
                break
        return np.asarray(now - now.mean(axis=1, keepdims=True), dtype=float)

    def _step(self, now: Floats, wins: Floats, times: Floats) -> Floats:
        """Return Newton's steps; the mean log-worth is held by a unit weight."""
        worth = np.exp(now)
        odds = times / (worth @ self.sets.T)
        expected = worth * (odds @ self.sets)
        near = (odds**2 / np.maximum(times, 1) @ self.pairs).reshape(*now.shape, -1)
        information = 1 - near * worth[:, :, None] * worth[:, None, :]
        at = np.arange(self.systems)
        information[:, at, at] += expected
        gradient = wins - expected - now.sum(axis=1, keepdims=True)
        return np.asarray(np.linalg.solve(information, gradient[..., None])[..., 0], dtype=float)

    def _shares(self, now: Floats, step: Floats, wins: Floats, times: Floats) -> Floats:
        """Return how far to go along each step: halved until it goes up."""
        share = np.ones((len(now), 1))
        value = self._heights(now, wins, times)
        for _ in range(HALVINGS):
            reached = self._heights(now + share * step, wins, times)
            short = reached < value - 1e-9 * (1 + np.abs(value))
            if not short.any():
                break
            share[short] /= 2
        return share

    def _heights(self, at: Floats, wins: Floats, times: Floats) -> Floats:
        whole = (times * np.log(np.exp(at) @ self.sets.T)).sum(axis=1)
        # What holds the mean is part of what is climbed.
        return np.asarray((wins * at).sum(axis=1) - whole - at.sum(axis=1) ** 2 / 2)


def _counted(rater: np.ndarray, column: np.ndarray, columns: int) -> Any:
    shape = (int(rater.max()) + 1, columns)
    return sparse.csr_array((np.ones(len(rater)), (rater, column)), shape=shape)
