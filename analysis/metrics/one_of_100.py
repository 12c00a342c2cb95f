"""1-of-100 accuracy: the gold reply is ranked first of the 100 replies of a random batch.

A Repository of Conversational Datasets (Henderson et al. 2019): the 99 negatives are the
replies of the other 99 examples of the batch; the mean is over batches (500 in the paper). Where
the table has a column `batch`, the interval is t over batches; else Wilson's over examples.
Chance is 1 %. Only examples with exactly 100 candidates count.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

import pandas as pd

from analysis.predictions.gold_ranks import Placed, by_size, tie_rate
from analysis.predictions.prediction_rows import Group, each_group, mean_row
from analysis.stats.intervals import wilson_interval
from analysis.tables.schema import PredictionTable

SIZE = 100


def one_of_100(predictions: PredictionTable, *, seed: int = 0) -> pd.DataFrame:
    """Return a row per dataset and system that ranked 100 candidates; a fraction, not percent."""
    return each_group("one_of_100", predictions, lambda group: _group_rows(group, seed))


def _group_rows(group: Group, seed: int) -> Iterator[dict[str, object]]:
    for n, found in by_size(group, seed=seed):
        if n == SIZE:
            yield group.row(**_row(found), chance=1 / SIZE, tie_rate=tie_rate(found))


def _row(found: Sequence[Placed]) -> dict[str, object]:
    batches: dict[str, list[float]] = defaultdict(list)
    for where in found:
        batches[where.batch].append(float(where.first == 1))
    if len(batches) > 1:
        means = [sum(hit) / len(hit) for hit in batches.values()]
        return {**mean_row(means), "n": len(found), "batches": len(batches)}
    hit = sum(where.first == 1 for where in found)
    low, high = wilson_interval(hit, len(found))
    return {"estimate": hit / len(found), "low": low, "high": high, "n": len(found), "batches": 1}
