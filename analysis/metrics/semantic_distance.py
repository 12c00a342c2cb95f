"""SS, THRED's penalized semantic distance of a response from the two messages before it.

Dziri et al. 2019; formula and dull phrases in `analysis.text.semantic`. Lower is more coherent. The
seed encodes with the Universal Sentence Encoder; here any encoder, named in the result: without
one, the mean of GloVe vectors. `question` tells the message: the last one (Utt.2) or the one before
(Utt.1).
"""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from analysis.predictions.prediction_rows import Group, each_group, mean_row
from analysis.tables.schema import PredictionTable
from analysis.text.semantic import distance, penalty_of
from analysis.text.tokenizers import WORDS, NamedTokenizer, with_tokenizer
from analysis.text.vectors import MISSING, VectorEncoder, default_encoder

SIMULATED_AS = ("nasl",)  # its length: a mean over examples

MESSAGES = {"reply to the last message": -1, "reply to the message before": -2}


def semantic_distance(
    predictions: PredictionTable,
    *,
    encoder: VectorEncoder | None = None,
    tokenizer: NamedTokenizer = WORDS,
) -> pd.DataFrame:
    """Return a row per dataset, system and message answered, or the reason for none."""
    found = each_group(
        "semantic_distance", predictions, lambda group: _group_rows(group, encoder, tokenizer)
    )
    return with_tokenizer(found, tokenizer.name)


def _group_rows(
    group: Group, encoder: VectorEncoder | None, tokenizer: NamedTokenizer
) -> Iterator[dict[str, object]]:
    encoder = encoder or default_encoder()
    for question, position in MESSAGES.items():
        pairs = [
            (row.context[position], row.response)
            for row in group.rows
            if row.response is not None and len(row.context) >= -position
        ]
        if pairs and encoder is None:
            yield group.row(question=question, n=0, reason=MISSING)
        elif pairs and encoder is not None:
            found = mean_row(_distances(pairs, encoder, tokenizer))
            yield group.row(question=question, **found, variant=encoder.name)


def _distances(
    pairs: list[tuple[str, str]], encoder: VectorEncoder, tokenizer: NamedTokenizer
) -> list[float]:
    messages = encoder.encode([message for message, _ in pairs])
    replies = encoder.encode([reply for _, reply in pairs])
    return [
        distance(message, reply, penalty_of(text, tokenizer.content))
        for message, reply, (_, text) in zip(messages, replies, pairs, strict=True)
    ]
