"""hits@k: the share of examples whose gold reply is among the k best of the candidates.

PERSONA-CHAT (Zhang et al. 2018) and ConvAI2 (Dinan et al. 2019) report hits@1 of 20:
the gold reply and 19 from other dialogues. Chance is k/n. Ties are broken by lot
(`analysis.predictions.gold_ranks`); the interval is Wilson's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pandas as pd

from analysis.predictions.gold_ranks import by_size, sized, tie_rate
from analysis.predictions.prediction_rows import Group, each_group
from analysis.stats.intervals import wilson_interval
from analysis.tables.schema import PredictionTable


def hits(
    predictions: PredictionTable, *, seed: int = 0, ks: Sequence[int] = (1, 5)
) -> pd.DataFrame:
    """Return a row per dataset, system, number of candidates n and k below n."""
    return each_group("hits", predictions, lambda group: _group_rows(group, seed, ks))


def _group_rows(group: Group, seed: int, ks: Sequence[int]) -> Iterator[dict[str, object]]:
    for n, found in by_size(group, seed=seed):
        ties = tie_rate(found)
        for k in (k for k in ks if k < n):
            hit = sum(where.first <= k for where in found)
            low, high = wilson_interval(hit, len(found))
            yield group.row(
                metric=f"hits@{k}",
                question=sized(n),
                estimate=hit / len(found),
                low=low,
                high=high,
                n=len(found),
                chance=k / n,
                tie_rate=ties,
            )
