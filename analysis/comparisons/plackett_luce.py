"""Plackett-Luce worths of systems from rankings without ties (1975; 1959), by Hunter's MM.

The probability of a ranking is the product, from the top, of a system's worth over the sum of the
worths still to be placed. Hunter 2004 (Annals of Statistics 32, section 5) gives the iteration,
which goes up in likelihood and, where Ford's condition holds, to its maximum.
Apart because the fit takes rankings as numbers, and is compared with choix as such.
"""

from __future__ import annotations

import numpy as np

from analysis.stats.intervals import Floats

ITERATIONS = 5000
TOLERANCE = 1e-10


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
