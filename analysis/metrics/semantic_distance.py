"""SS, THRED's penalized semantic distance of a response from the two messages before it.

Dziri et al. 2019; formula and dull phrases in `analysis.semantic`. Lower is more coherent. The seed
encodes with the Universal Sentence Encoder; here any encoder, named in the result: without one, the
mean of GloVe vectors. `question` tells the message: the last one (Utt.2) or the one before (Utt.1).
"""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from analysis.predicted import Group, each_group, mean_row
from analysis.semantic import distance, penalty_of
from analysis.tables import PredictionTable
from analysis.vectors import MISSING, Encoder, default_encoder

MESSAGES = {"reply to the last message": -1, "reply to the message before": -2}


def semantic_distance(
    predictions: PredictionTable, *, encoder: Encoder | None = None
) -> pd.DataFrame:
    """Return a row per dataset, system and message answered, or the reason for none."""
    return each_group("semantic_distance", predictions, lambda group: _rows(group, encoder))


def _rows(group: Group, encoder: Encoder | None) -> Iterator[dict[str, object]]:
    encoder = encoder or default_encoder()
    for question, place in MESSAGES.items():
        told = [
            (row.context[place], row.response)
            for row in group.rows
            if row.response is not None and len(row.context) >= -place
        ]
        if told and encoder is None:
            yield group.row(question=question, n=0, reason=MISSING)
        elif told and encoder is not None:
            found = mean_row(_distances(told, encoder))
            yield group.row(question=question, **found, variant=encoder.name)


def _distances(told: list[tuple[str, str]], encoder: Encoder) -> list[float]:
    messages = encoder.encode([message for message, _ in told])
    replies = encoder.encode([reply for _, reply in told])
    return [
        distance(message, reply, penalty_of(text))
        for message, reply, (_, text) in zip(messages, replies, told, strict=True)
    ]
