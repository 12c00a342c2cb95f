"""F1 of the words of a response with those of its gold reply, after `normalize_answer`.

PERSONA-CHAT (Zhang et al. 2018) and ConvAI2 (Dinan et al. 2019): multiset overlap, the
best over several gold replies, 0 without any, mean over examples. A fraction; ConvAI2 prints
percent. A constant reply of frequent words beats real models (19.6 % there): a known weakness.
"""

from __future__ import annotations

import pandas as pd

from analysis.predictions.prediction_rows import Predicted, averaged
from analysis.tables.schema import PredictionTable
from analysis.text.overlap import word_f1 as f1


def word_f1(predictions: PredictionTable) -> pd.DataFrame:
    """Return a row per dataset and system."""
    return averaged("word_f1", predictions, _value, share=True)


def _value(row: Predicted) -> float | None:
    return f1(row.response, row.golds) if row.response is not None and row.golds else None
