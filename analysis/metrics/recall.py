"""Recall@k of n, MRR, MAP and the DSTC7 track score of ranked candidates.

DSTC7 task 1 (Gunasekara et al. 2019): Recall@1, @10, @50 of 100, mean reciprocal rank,
MAP where several candidates are right; a track's score is the mean of Recall@10 and MRR. Where no
candidate is right, the right answer is the candidate "(none)". Intervals are over examples,
Wilson's, since all or none may be found.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pandas as pd

from analysis.predictions.gold_ranks import Placed, by_size, sized, tie_rate
from analysis.predictions.prediction_rows import Group, each_group, mean_row
from analysis.tables.schema import PredictionTable

TRACK = 10


def recall(
    predictions: PredictionTable, *, seed: int = 0, ks: Sequence[int] = (1, 3, 5, 10, 50)
) -> pd.DataFrame:
    """Return rows recall@k, mrr, map and track_score per dataset, system and number n."""
    return each_group("recall", predictions, lambda group: _group_rows(group, seed, ks))


def _group_rows(group: Group, seed: int, ks: Sequence[int]) -> Iterator[dict[str, object]]:
    for n, found in by_size(group, seed=seed):
        about = {"question": sized(n), "tie_rate": tie_rate(found)}
        for name, values in _values(found, [k for k in ks if k < n]).items():
            yield group.row(metric=name, **about, **mean_row(values, share=True))


def _values(found: Sequence[Placed], ks: Sequence[int]) -> dict[str, list[float]]:
    values = {f"recall@{k}": [_recall(where, k) for where in found] for k in ks}
    reciprocal = [1 / where.first for where in found]
    values["mrr"] = reciprocal
    values["map"] = [where.average_precision for where in found]
    track = [_recall(where, TRACK) for where in found]
    if found[0].n > TRACK:
        pairs = zip(track, reciprocal, strict=True)
        values["track_score"] = [(within + mrr) / 2 for within, mrr in pairs]
    return values


def _recall(where: Placed, k: int) -> float:
    """Return the share of the right answers within the first k places."""
    return sum(rank <= k for rank in where.ranks) / len(where.ranks)
