"""Coverage of a whitelist, and recall with the true reply added or only where it is covered.

ASAPP's dual encoder (2019; NLP4CONVAI), tables 5 and 6: the share of examples whose true reply is
on the whitelist, ignoring case, punctuation and white space. The candidates of a row are the
whitelist; the column `gold_score` is the score of the true reply. `recall@k+` ranks it among the
whitelist, whether it stands there or not; `recall@k` counts covered examples only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

import pandas as pd

from analysis.intervals import wilson_interval
from analysis.predicted import Group, Predicted, each_group
from analysis.ranks import placed
from analysis.tables import PredictionTable
from analysis.text import key as uncached

WHITELIST = "whitelist"
key = lru_cache(maxsize=1 << 18)(uncached)


def coverage(
    predictions: PredictionTable, *, seed: int = 0, ks: Sequence[int] = (1, 3, 5, 10)
) -> pd.DataFrame:
    """Return rows coverage, recall@k and recall@k+ per dataset and system; fractions."""
    return each_group("coverage", predictions, lambda group: _rows(group, seed, ks))


def _rows(group: Group, seed: int, ks: Sequence[int]) -> Iterator[dict[str, object]]:
    listed = [row for row in group.rows if row.candidates and row.golds]
    if not listed:
        return
    keys = {row.candidates: {key(text) for text in row.candidates} for row in listed}
    covered = [row for row in listed if not keys[row.candidates].isdisjoint(_keys(row.golds))]
    yield group.row(metric="coverage", **_share(len(covered), len(listed)))
    for k in ks:
        within = [_place(row, seed) for row in covered if row.scores]
        if within:
            hit = sum(place <= k for place in within)
            yield group.row(metric=f"recall@{k}", **_share(hit, len(within)))
        added = [_place(row, seed) for row in listed if row.scores and row.gold_score is not None]
        if added:
            hit = sum(place <= k for place in added)
            yield group.row(metric=f"recall@{k}+", **_share(hit, len(added)))


def _keys(texts: Sequence[str]) -> set[str]:
    return {key(text) for text in texts}


def _place(row: Predicted, seed: int) -> int:
    """Return the place of the true reply among the whitelist without its own copies."""
    true = _keys(row.golds)
    scored = zip(row.candidates, row.scores, strict=True)
    others = [(text, score) for text, score in scored if key(text) not in true]
    own = [s for text, s in zip(row.candidates, row.scores, strict=True) if key(text) in true]
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
    return 1 if where is None else where.first


def _share(hit: int, n: int) -> dict[str, object]:
    low, high = wilson_interval(hit, n)
    return {"question": WHITELIST, "estimate": hit / n, "low": low, "high": high, "n": n}
