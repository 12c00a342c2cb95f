"""REI, THRED's response echo index: similarity of replies to the training data.

Dziri et al. 2019; the formula is in `analysis.text.response_echo`. 0 to 1, lower is better; the
mean over examples. `training` are the conversations that the systems learned from, each a list of
messages; a random tenth of their messages is compared with, drawn by `seed`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pandas as pd

from analysis.predictions.prediction_rows import Group, each_group, mean_row
from analysis.tables.options import TRAINING_NEEDED
from analysis.tables.schema import PredictionTable
from analysis.text.response_echo import EchoIndex, sample
from analysis.text.tokenizers import WORDS, NamedTokenizer, with_tokenizer

SIMULATED_AS = ("word_f1",)  # a mean over examples, as here


def echo_index(
    predictions: PredictionTable,
    *,
    seed: int = 0,
    training: Sequence[Sequence[str]] = (),
    tokenizer: NamedTokenizer = WORDS,
) -> pd.DataFrame:
    """Return a row per dataset and system, or the reason for none."""
    messages = [text for conversation in training for text in conversation]
    index = EchoIndex(sample(messages, seed=seed), tokenizer) if messages else None
    found = each_group("echo_index", predictions, lambda group: _group_rows(group, index))
    return with_tokenizer(found, tokenizer.name)


def _group_rows(group: Group, index: EchoIndex | None) -> Iterator[dict[str, object]]:
    responses = [row.response for row in group.rows if row.response is not None]
    if responses and index is None:
        yield group.row(reason=TRAINING_NEEDED)
    elif responses and index is not None:
        yield group.row(**mean_row([index.score(text) for text in responses], share=True))
