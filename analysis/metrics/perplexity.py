"""Perplexity: exp of the mean negative log probability of the tokens of the gold replies.

The mean is over all scored tokens of a test set (metrics of PERSONA-CHAT 2018, ConvAI2 2019, MEENA
2020). `log_probs` has a number per token of the gold reply, null for one that is not scored
(official ConvAI2: words outside the dictionary); a probability of 0 makes it infinite. Perplexities
of different vocabularies cannot be compared; `perplexity_per_word` divides by the gold replies'
tokens of `split`, or of another tokenizer, instead. The interval is a delta-method t over examples,
on the log scale.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import pandas as pd

from analysis.predictions.prediction_rows import Group, each_group, ratio_row
from analysis.tables.schema import PredictionTable
from analysis.tables.tidy import NUMBERS
from analysis.text.tokenizers import SPLIT, NamedTokenizer, with_tokenizer

ZERO = "a token of a gold reply has probability 0"
NOTHING = "no token is scored"


def perplexity(predictions: PredictionTable, *, tokenizer: NamedTokenizer = SPLIT) -> pd.DataFrame:
    """Return two rows, per token and per word, for each system with log probabilities."""
    found = each_group("perplexity", predictions, lambda group: _group_rows(group, tokenizer))
    return with_tokenizer(found, tokenizer.name)


def _group_rows(group: Group, tokenizer: NamedTokenizer) -> Iterator[dict[str, object]]:
    scored = [row for row in group.rows if row.log_probs is not None]
    if not scored:
        return
    losses, tokens, words = [], [], []
    for row in scored:
        known = [each for each in row.log_probs or () if each is not None]
        losses.append(-sum(known))
        tokens.append(len(known))
        words.append(sum(len(tokenizer(gold)) for gold in row.golds[:1]))
    yield group.row(metric="perplexity", **_ratio(losses, tokens))
    yield group.row(metric="perplexity_per_word", **_ratio(losses, words))


def _ratio(losses: Sequence[float], units: Sequence[int]) -> dict[str, object]:
    about: dict[str, object] = {"n": len(losses), "units": sum(units)}
    if not sum(units):
        return {**about, "reason": NOTHING}
    if math.isinf(sum(losses)):
        return {**about, "estimate": math.inf, "note": ZERO}
    row = ratio_row(losses, units)
    ends = {name: math.exp(float(str(row[name]))) for name in NUMBERS}
    return {**about, **ends, "reason": row.get("reason")}
