"""Whitelist replies: whether the true reply is on the list, and its rank there.

ASAPP's dual encoder (2019; NLP4CONVAI). A row's candidates are the whitelist, `gold_score` is the
score of the true reply; replies are the same that differ in case, punctuation or white space only.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from analysis.predictions.gold_ranks import placed
from analysis.predictions.prediction_rows import Predicted
from analysis.text.tokens import key as uncached

key = lru_cache(maxsize=1 << 18)(uncached)


@dataclass(frozen=True)
class Listed:
    """One example and its whitelist; places and replies are None where a score is lacking."""

    row: Predicted
    covered: bool
    rank: int | None
    chosen: str | None

    @property
    def within(self) -> int | None:
        """The true reply's place on the whitelist, where it is on it."""
        return self.rank if self.covered else None

    @property
    def added(self) -> int | None:
        """The true reply's place once it is added to the whitelist."""
        return self.rank if self.row.gold_score is not None else None


def listed(rows: Iterable[Predicted], seed: int) -> list[Listed]:
    """Return every row that has a whitelist and a true reply, if these rows are of a whitelist.

    They are where `gold_score` is known of any; else the candidates are a task's, not a list.
    """
    rows = list(rows)
    if all(row.gold_score is None for row in rows):
        return []
    keys: dict[tuple[str, ...], frozenset[str]] = {}
    found = []
    for row in rows:
        if row.candidates and row.golds:
            if row.candidates not in keys:
                keys[row.candidates] = frozenset(map(key, row.candidates))
            found.append(_listed(row, keys[row.candidates], seed))
    return found


def _listed(row: Predicted, keys: frozenset[str], seed: int) -> Listed:
    true = {key(text) for text in row.golds}
    covered = not keys.isdisjoint(true)
    if not row.scores or not (covered or row.gold_score is not None):
        return Listed(row, covered, None, None)
    scored = list(zip(row.candidates, row.scores, strict=True))
    own = [score for text, score in scored if key(text) in true]
    others = [(text, score) for text, score in scored if key(text) not in true]
    best = max(own) if row.gold_score is None else row.gold_score
    together = Predicted(
        example=row.example,
        context=row.context,
        golds=row.golds[:1],
        response=None,
        candidates=(row.golds[0], *(text for text, _ in others)),
        scores=(best, *(score for _, score in others)),
    )
    where = placed(together, seed=seed)
    rank = 1 if where is None else where.first
    top = max(others, key=lambda pair: pair[1])[0] if others else row.golds[0]
    return Listed(row, covered, rank, row.golds[0] if rank == 1 else top)
