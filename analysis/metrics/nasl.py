"""NASL, the normalized average sequence length, and length in tokens.

hredGAN (Olabiyi et al. 2019): mean words of the responses by mean words of the gold replies; the
gold replies themselves have 1. Intervals are t over examples (delta method for the ratio).
"""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from analysis.predictions.prediction_rows import Group, each_group, mean_row, ratio_row
from analysis.tables.schema import PredictionTable


def nasl(predictions: PredictionTable) -> pd.DataFrame:
    """Return rows nasl and length per dataset and system."""
    return each_group("nasl", predictions, _group_rows)


def _group_rows(group: Group) -> Iterator[dict[str, object]]:
    lengths = [len(tokens) for tokens in group.responses()]
    if lengths:
        yield group.row(metric="length", **mean_row(lengths))
    pairs = [(len(tokens), len(golds[0])) for tokens, golds in group.pairs()]
    if any(gold for _, gold in pairs):
        yield group.row(**ratio_row([tokens for tokens, _ in pairs], [gold for _, gold in pairs]))
