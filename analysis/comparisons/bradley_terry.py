"""Bradley-Terry abilities from comparisons of two, with ties and the advantage of the first shown.

Bradley & Terry 1952 (Biometrika 39); ties by Davidson 1970 (JASA 65, eq. 2.4), or as half a win for
each; order by Davidson & Beaver 1977 (Biometrics 33). The model is a multinomial logit in the
log-abilities, log nu of a tie and the log advantage, so its likelihood is concave: comparisons are
aggregated by ordered pair, and Newton's method needs a few steps whatever their number.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from analysis.comparisons.davidson import PairTables
from analysis.stats.intervals import Floats


@dataclass(frozen=True, eq=False)
class PairCounts:
    """Comparisons [first shown, second shown]: how often the first won, tied, lost.

    An axis before these two is of several tables, such as resamples.
    """

    won: Floats
    tied: Floats
    lost: Floats

    def __iter__(self) -> Iterator[Floats]:
        return iter((self.won, self.tied, self.lost))

    @property
    def systems(self) -> int:
        return int(self.won.shape[-1])

    @property
    def wins(self) -> Floats:
        """Wins of row over column, whoever was shown first; a tie is half a win for each."""
        half = self.tied / 2
        return self.won + half + (self.lost + half).swapaxes(-1, -2)

    def halved(self) -> PairCounts:
        """Return the same with a tie as half a win for each."""
        half = self.tied / 2
        return PairCounts(self.won + half, np.zeros_like(half), self.lost + half)


@dataclass(frozen=True, eq=False)
class Abilities:
    """Log-abilities around a mean of 0, their covariance, and the two other parameters."""

    mean: Floats
    covariance: Floats
    tie: float | None
    first: float | None
    first_se: float | None

    @property
    def shares(self) -> Floats:
        """Abilities that add up to 1."""
        raised = np.exp(self.mean - self.mean.max())
        return np.asarray(raised / raised.sum(), dtype=float)


def undefined(counts: PairCounts) -> str | None:
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


def fit(counts: PairCounts, *, order: bool = False, start: Floats | None = None) -> Abilities:
    """Return the maximum likelihood abilities; they exist where `undefined` says None."""
    tables = PairTables(*(each[None] for each in counts), order=order)
    return _abilities(tables, tables.highest(start))


def _abilities(tables: PairTables, at: Floats) -> Abilities:
    """Return what was found of the only table, centered."""
    covariance = np.linalg.pinv(tables.slopes(at)[1][0], hermitian=True)
    found, systems = at[0], tables.systems
    center = np.eye(systems) - 1 / systems
    block = center @ covariance[:systems, :systems] @ center
    return Abilities(
        found[:systems] - found[:systems].mean(),
        block,
        float(np.exp(found[systems])) if tables.ties else None,
        float(found[-1]) if tables.order else None,
        float(np.sqrt(covariance[-1, -1])) if tables.order else None,
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
