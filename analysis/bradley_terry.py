"""Abilities from comparisons of two, with ties and the advantage of being shown first.

Bradley & Terry 1952 (Biometrika 39); ties by Davidson 1970 (JASA 65, eq. 2.4), or as half a win for
each; order by Davidson & Beaver 1977 (Biometrics 33). The model is a multinomial logit in the
log-abilities, log nu of a tie and the log advantage, so its likelihood is concave: comparisons are
aggregated by ordered pair, and Newton's method needs a few steps whatever their number.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from analysis.intervals import Floats

ITERATIONS = 60
TOLERANCE = 1e-10
LEAST = -1e6  # log-probability of a tie where there are none, and none is counted


@dataclass(frozen=True, eq=False)
class Counts:
    """Comparisons [first shown, second shown]: how often the first won, tied, lost."""

    won: Floats
    tied: Floats
    lost: Floats

    @property
    def systems(self) -> int:
        return len(self.won)

    @property
    def wins(self) -> Floats:
        """Wins of row over column, whoever was shown first; a tie is half a win for each."""
        half = self.tied / 2
        return self.won + half + (self.lost + half).T

    def halved(self) -> Counts:
        """Return the same with a tie as half a win for each."""
        half = self.tied / 2
        return Counts(self.won + half, np.zeros_like(half), self.lost + half)


@dataclass(frozen=True, eq=False)
class Abilities:
    """Log-abilities around a mean of 0, their covariance, and the two other parameters."""

    mean: Floats
    covariance: Floats
    tie: float | None
    first: float | None
    first_se: float | None

    def against(self, base: int) -> tuple[Floats, Floats]:
        """Return log-abilities and standard errors relative to one system."""
        covariance = self.covariance
        variance = np.diag(covariance) + covariance[base, base] - 2 * covariance[base]
        return self.mean - self.mean[base], np.sqrt(np.maximum(variance, 0.0))

    @property
    def shares(self) -> Floats:
        """Abilities that add up to 1."""
        raised = np.exp(self.mean - self.mean.max())
        return np.asarray(raised / raised.sum(), dtype=float)


def undefined(counts: Counts) -> str | None:
    """Return why no finite abilities exist (Ford 1957): some never lost to, or met, the others."""
    beaten = sparse.csr_matrix(counts.wins > 0)
    groups, member = connected_components(beaten, directed=True, connection="strong")
    if groups == 1:
        return None
    together = connected_components(beaten, directed=False)[0]
    if together > 1:
        return f"the systems fall into {together} groups that were never compared"
    sizes = np.bincount(member)
    return f"{int(sizes.min())} of the systems won, or lost, every comparison with the others"


def fit(counts: Counts, *, order: bool = False, start: Floats | None = None) -> Abilities:
    """Return the maximum likelihood abilities; they exist where `undefined` says None."""
    design = _Design(counts, order)
    now = np.zeros(design.size) if start is None else np.append(start, np.zeros(design.size))
    now = now[: design.size]
    value = design.height(now)
    for _ in range(ITERATIONS):
        gradient, information = design.slopes(now)
        # Where the first shown always won, or one was always first, nothing holds that advantage.
        step = np.linalg.lstsq(information, gradient, rcond=None)[0]
        share = 1.0
        while design.height(now + share * step) < value - 1e-12 and share > 1e-8:
            share /= 2
        now = now + share * step
        gained, value = design.height(now) - value, design.height(now)
        if abs(gained) < TOLERANCE * (1 + abs(value)) and np.abs(gradient).max() < 1e-7 * (
            1 + -value
        ):
            break
    return design.abilities(now)


class _Design:
    """The three outcomes of every ordered pair that met, as rows of one multinomial logit."""

    def __init__(self, counts: Counts, order: bool) -> None:
        met = counts.won + counts.tied + counts.lost
        first, second = np.nonzero(met)
        self.systems, pairs = counts.systems, len(first)
        self.ties = bool(counts.tied.sum() > 0)
        self.order = order
        self.size = self.systems + self.ties + order
        outcomes = np.zeros((3, pairs, self.size))
        rows = np.arange(pairs)
        outcomes[0, rows, first] = 1
        outcomes[2, rows, second] = 1
        if order:
            outcomes[0, :, -1] = 1
        outcomes[1] = (outcomes[0] + outcomes[2]) / 2
        if self.ties:
            outcomes[1, :, self.systems] = 1
        self.outcomes = outcomes
        seen = [counts.won, counts.tied, counts.lost]
        self.seen = np.stack([each[first, second] for each in seen])
        self.total = self.seen.sum(axis=0)
        self.closed = np.array([0.0, 0.0 if self.ties else -np.inf, 0.0])[:, None]

    def _logs(self, at: Floats) -> Floats:
        raised = self.outcomes @ at + self.closed
        peak = raised.max(axis=0)
        return np.asarray(raised - peak - np.log(np.exp(raised - peak).sum(axis=0)), dtype=float)

    def height(self, at: Floats) -> float:
        return float((self.seen * np.maximum(self._logs(at), LEAST)).sum())

    def slopes(self, at: Floats) -> tuple[Floats, Floats]:
        """Return gradient and information; the mean ability is held at 0 by a unit weight."""
        chances = np.exp(self._logs(at))
        gradient = np.einsum("op,opk->k", self.seen - self.total * chances, self.outcomes)
        mean = np.einsum("op,opk->pk", chances, self.outcomes)
        weighted = (self.total * chances)[:, :, None] * self.outcomes
        information = np.einsum("opk,opl->kl", weighted, self.outcomes)
        information -= (self.total[:, None] * mean).T @ mean
        ones = np.zeros(self.size)
        ones[: self.systems] = 1
        return gradient - ones * (ones @ at), information + np.outer(ones, ones)

    def abilities(self, at: Floats) -> Abilities:
        """Return what was found, centered."""
        covariance = np.linalg.pinv(self.slopes(at)[1], hermitian=True)
        center = np.eye(self.systems) - 1 / self.systems
        block = center @ covariance[: self.systems, : self.systems] @ center
        return Abilities(
            at[: self.systems] - at[: self.systems].mean(),
            block,
            float(np.exp(at[self.systems])) if self.ties else None,
            float(at[-1]) if self.order else None,
            float(np.sqrt(covariance[-1, -1])) if self.order else None,
        )


def cycles(wins: Floats) -> list[tuple[int, int, int]]:
    """Return the triples of which each beat the next more often than not: no order fits them."""
    above: NDArray[np.bool_] = wins > wins.T
    size = len(wins)
    return [
        (a, b, c)
        for a in range(size)
        for b in range(a + 1, size)
        for c in range(a + 1, size)
        if b != c and above[a, b] and above[b, c] and above[c, a]
    ]
