"""ent-n: entropy of the n-grams of all responses together, n = 1 to 4, natural logarithm.

Zhang et al. 2018 (NeurIPS, "Generating informative and diverse conversational responses"); the PPMI
keyword model (2019) reports ent-4. It grows with the set: compare sets of one size.
"""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from analysis.predictions.prediction_rows import Group, each_group
from analysis.tables.schema import PredictionTable
from analysis.text import diversity
from analysis.text.tokenizers import SPLIT, NamedTokenizer, with_tokenizer
from analysis.text.tokens import ngrams

NO_INTERVAL = "it is of all responses together"

TOO_SHORT = "no response is that long"


def entropy(predictions: PredictionTable, *, tokenizer: NamedTokenizer = SPLIT) -> pd.DataFrame:
    """Return rows ent_1 to ent_4 per dataset and system."""
    found = each_group("entropy", predictions, lambda group: _group_rows(group, tokenizer))
    return with_tokenizer(found, tokenizer.name)


def _group_rows(group: Group, tokenizer: NamedTokenizer) -> Iterator[dict[str, object]]:
    texts = group.responses(tokenizer)
    for n in range(1, 5) if texts else ():
        known = any(ngrams(tokens, n) for tokens in texts)
        value = {"estimate": diversity.entropy(texts, n)} if known else {"reason": TOO_SHORT}
        yield group.row(metric=f"ent_{n}", n=len(texts), **value)
