"""distinct-n: different n-grams of all responses together, per generated word or per n-gram.

Li et al. 2016 (NAACL). `distinct_1` and `distinct_2` divide by words, as THRED and the PPMI keyword
model (2019) do; `distinct_2_of_ngrams` by n-grams, as hredGAN (2019) does (for n = 1 both agree).
`ave_distinct_n` (event causality, 2019) is distinct-n inside each list of n best candidates, where
the gold reply is not among them, averaged. It falls as the set grows: compare sets of one size.
"""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from analysis.predictions.prediction_rows import Group, Predicted, each_group, mean_row
from analysis.tables.schema import PredictionTable
from analysis.text import diversity
from analysis.text.tokenizers import SPLIT, NamedTokenizer, with_tokenizer

NOTHING = "no response has a word"


def distinct(predictions: PredictionTable, *, tokenizer: NamedTokenizer = SPLIT) -> pd.DataFrame:
    """Return rows distinct_1, distinct_2, distinct_2_of_ngrams, and ave_distinct_n of lists."""
    found = each_group("distinct", predictions, lambda group: _group_rows(group, tokenizer))
    return with_tokenizer(found, tokenizer.name)


def _group_rows(group: Group, tokenizer: NamedTokenizer) -> Iterator[dict[str, object]]:
    texts = group.responses(tokenizer)
    if texts:
        for n in (1, 2):
            unique, _, words = diversity.distinct(texts, n)
            yield group.row(metric=f"distinct_{n}", **_share(unique, words, len(texts)))
        unique, grams, _ = diversity.distinct(texts, 2)
        yield group.row(metric="distinct_2_of_ngrams", **_share(unique, grams, len(texts)))
    lists = [row for row in group.rows if _is_own_list(row)]
    if lists:
        for n in (1, 2):
            values = [_inside(row, n, tokenizer) for row in lists]
            yield group.row(metric=f"ave_distinct_{n}", **mean_row(values, share=True))


def _share(unique: int, of: int, n: int) -> dict[str, object]:
    if not of:
        return {"n": n, "reason": NOTHING}
    return {"estimate": unique / of, "n": n}


def _is_own_list(row: Predicted) -> bool:
    return len(row.candidates) > 1 and not any(row.right)


def _inside(row: Predicted, n: int, tokenizer: NamedTokenizer) -> float:
    unique, _, words = diversity.distinct([tokenizer(text) for text in row.candidates], n)
    return unique / words if words else 0.0
