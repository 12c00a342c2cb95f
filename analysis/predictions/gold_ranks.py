"""Ranks of the right answers among the candidates, best score first.

Ties are broken by lot, seeded per example, so neither the order of candidates nor of rows decides;
how many examples had a tie that mattered is told beside every number.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from random import Random

from analysis.predictions.prediction_rows import Group, Predicted


@dataclass(frozen=True)
class Placed:
    """The places, from 1, of an example's right answers among its n candidates."""

    example: str
    ranks: tuple[int, ...]
    n: int
    tied: bool
    batch: str = ""

    @property
    def first(self) -> int:
        """The best place that a right answer has."""
        return self.ranks[0]

    @property
    def average_precision(self) -> float:
        """The mean over right answers of the precision at its place (Manning et al. 2008, 8.4)."""
        return sum(k / rank for k, rank in enumerate(self.ranks, start=1)) / len(self.ranks)


def placed(row: Predicted, *, seed: int = 0) -> Placed | None:
    """Return the places in one example; None without scores, or with no right candidate."""
    right = row.right
    if not row.scores or not any(right):
        return None
    lot = Random(f"{seed}:{row.example}")  # noqa: S311
    drawn = [lot.random() for _ in row.scores]
    order = sorted(range(len(right)), key=lambda k: (-row.scores[k], drawn[k]))
    ranks = tuple(rank for rank, k in enumerate(order, start=1) if right[k])
    wrong = {score for score, good in zip(row.scores, right, strict=True) if not good}
    tied = any(good and score in wrong for score, good in zip(row.scores, right, strict=True))
    return Placed(row.example, ranks, len(right), tied, row.batch)


def by_size(group: Group, *, seed: int = 0) -> Iterator[tuple[int, list[Placed]]]:
    """Yield the examples of each number of candidates, fewest first."""
    found = [where for row in group.rows if (where := placed(row, seed=seed)) is not None]
    for n in sorted({where.n for where in found}):
        yield n, [where for where in found if where.n == n]


def tie_rate(found: Iterable[Placed]) -> float:
    """Return the share of examples in which a right and a wrong candidate have the same score."""
    ties = [where.tied for where in found]
    return sum(ties) / len(ties)


def sized(n: int) -> str:
    """Return how results name a reply that was chosen among n."""
    return f"reply of {n}"
