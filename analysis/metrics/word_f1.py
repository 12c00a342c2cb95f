"""F1 of the words of a response with those of its gold reply: `normalize_answer` or a tokenizer.

PERSONA-CHAT (Zhang et al. 2018) and ConvAI2 (Dinan et al. 2019): multiset overlap, the
best over several gold replies, 0 without any, mean over examples. A fraction; ConvAI2 prints
percent. A constant reply of frequent words beats real models (19.6 % there): a known weakness.
"""

from __future__ import annotations

import pandas as pd

from analysis.predictions.prediction_rows import Predicted, averaged
from analysis.tables.schema import PredictionTable
from analysis.text.overlap import normalized
from analysis.text.overlap import word_f1 as f1
from analysis.text.tokenizers import NamedTokenizer, with_tokenizer
from analysis.text.tokens import Tokenizer


def word_f1(
    predictions: PredictionTable, *, tokenizer: NamedTokenizer | None = None
) -> pd.DataFrame:
    """Return a row per dataset and system."""
    words = normalized if tokenizer is None else tokenizer.words
    found = averaged("word_f1", predictions, lambda row: _value(row, words), share=True)
    return with_tokenizer(found, tokenizer.name if tokenizer else "normalize_answer")


def _value(row: Predicted, words: Tokenizer) -> float | None:
    return f1(row.response, row.golds, words) if row.response is not None and row.golds else None
