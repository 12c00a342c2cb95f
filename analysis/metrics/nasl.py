"""NASL, the normalized average sequence length, and length in tokens.

hredGAN (Olabiyi et al. 2019): mean words of the responses by mean words of the gold replies; the
gold replies themselves have 1. Intervals are t over examples (delta method for the ratio).
"""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from analysis.predictions.prediction_rows import Group, each_group, mean_row, ratio_row
from analysis.tables.schema import PredictionTable
from analysis.text.tokenizers import SPLIT, NamedTokenizer, with_tokenizer


def nasl(predictions: PredictionTable, *, tokenizer: NamedTokenizer = SPLIT) -> pd.DataFrame:
    """Return rows nasl and length per dataset and system."""
    found = each_group("nasl", predictions, lambda group: _group_rows(group, tokenizer))
    return with_tokenizer(found, tokenizer.name)


def _group_rows(group: Group, tokenizer: NamedTokenizer) -> Iterator[dict[str, object]]:
    lengths = [len(tokens) for tokens in group.responses(tokenizer)]
    if lengths:
        yield group.row(metric="length", **mean_row(lengths))
    pairs = [(len(tokens), len(golds[0])) for tokens, golds in group.pairs(tokenizer)]
    if any(gold for _, gold in pairs):
        yield group.row(**ratio_row([tokens for tokens, _ in pairs], [gold for _, gold in pairs]))
