"""ROUGE-2 F1, ROUGE-L F1 and METEOR of responses with their gold replies.

Lin 2004; Banerjee & Lavie 2005, with exact words and Porter stems but without WordNet's synonyms,
so that METEOR is a little lower than with them. Mean over examples of the best over gold replies;
hredGAN (2019) prints ROUGE-2 F1 as a fraction, L2E (2019) ROUGE and METEOR.
"""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from analysis.predictions.prediction_rows import Group, each_group, mean_row
from analysis.scores.cautions import REFERENCE_NOTE
from analysis.tables.schema import PredictionTable
from analysis.text.overlap import best, meteor, rouge_l, rouge_n
from analysis.text.tokenizers import SPLIT, NamedTokenizer, with_tokenizer

SCORES = {"rouge_2": rouge_n, "rouge_l": rouge_l, "meteor": meteor}


def rouge(predictions: PredictionTable, *, tokenizer: NamedTokenizer = SPLIT) -> pd.DataFrame:
    """Return three rows per dataset and system."""
    found = each_group("rouge", predictions, lambda group: _group_rows(group, tokenizer))
    return with_tokenizer(found, tokenizer.name)


def _group_rows(group: Group, tokenizer: NamedTokenizer) -> Iterator[dict[str, object]]:
    pairs = group.pairs(tokenizer)
    if not pairs:
        return
    for name, score in SCORES.items():
        values = [best(score, response, golds) for response, golds in pairs]
        about = {"variant": f"{tokenizer.name} tokens, lower case", "note": REFERENCE_NOTE}
        yield group.row(metric=name, **mean_row(values, share=True), **about)
