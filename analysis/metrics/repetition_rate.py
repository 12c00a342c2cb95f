"""Repetition rate: how much more a response repeats its own words than the gold reply does.

PPMI keyword model (2019; NLP4CONVAI): mean of `(1 + r(response)) / (1 + r(gold))`, where r counts
the tokens that have stood in the text before. The gold replies themselves have 1.
"""

from __future__ import annotations

import pandas as pd

from analysis.predictions.prediction_rows import Predicted, averaged
from analysis.tables.schema import PredictionTable
from analysis.text.diversity import repetitions
from analysis.text.tokenizers import SPLIT, NamedTokenizer, with_tokenizer


def repetition_rate(
    predictions: PredictionTable, *, tokenizer: NamedTokenizer = SPLIT
) -> pd.DataFrame:
    """Return a row per dataset and system."""
    found = averaged("repetition_rate", predictions, lambda row: _value(row, tokenizer))
    return with_tokenizer(found, tokenizer.name)


def _value(row: Predicted, tokenizer: NamedTokenizer) -> float | None:
    if row.response is None or not row.golds:
        return None
    reply, gold = tokenizer(row.response), tokenizer(row.golds[0])
    return (1 + repetitions(reply)) / (1 + repetitions(gold))
