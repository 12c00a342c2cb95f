"""Vector extrema: cosine of response and gold reply, each the extreme of its words' vectors.

Forgues et al. 2014, as the event-causality paper (2019) uses it: per dimension the maximum over the
words, or the minimum where that is farther from 0; 0 where a side has no known word. Vectors are
GloVe 6B 50d unless others are given.
"""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from analysis.predictions.prediction_rows import Group, each_group, mean_row
from analysis.scores.cautions import REFERENCE_NOTE
from analysis.tables.schema import PredictionTable
from analysis.text.tokenizers import WORDS, NamedTokenizer, with_tokenizer
from analysis.text.vectors import MISSING, Vectors, cosine, extrema, glove

SIMULATED_AS = ("nasl",)  # its length: a mean over examples


def vector_extrema(
    predictions: PredictionTable,
    *,
    vectors: Vectors | None = None,
    tokenizer: NamedTokenizer = WORDS,
) -> pd.DataFrame:
    """Return a row per dataset and system, or the reason for none."""
    found = each_group(
        "vector_extrema", predictions, lambda group: _group_rows(group, vectors, tokenizer)
    )
    return with_tokenizer(found, tokenizer.name)


def _group_rows(
    group: Group, vectors: Vectors | None, tokenizer: NamedTokenizer
) -> Iterator[dict[str, object]]:
    pairs = group.pairs(tokenizer.words)
    if not pairs:
        return
    vectors = vectors or glove()
    if vectors is None:
        yield group.row(reason=MISSING)
        return
    values = [
        max(cosine(extrema(response, vectors), extrema(gold, vectors)) for gold in golds)
        for response, golds in pairs
    ]
    yield group.row(**mean_row(values), variant=vectors.name, note=REFERENCE_NOTE)
