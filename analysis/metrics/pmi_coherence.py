"""PMI coherence: do the response's words go with those of the history?

Event causality (2019; NLP4CONVAI): mean over the response's words of the highest PMI
with a word of the history, 0 for pairs never seen (`analysis.pmi`). `training` are conversations,
each a list of messages, from whose neighboring messages PMI is counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pandas as pd

from analysis.options import TRAINING_NEEDED
from analysis.pmi import WordPairs, pairs_of
from analysis.predicted import Group, each_group, mean_row
from analysis.tables import PredictionTable

NO_WORDS = "no response has a word"


def pmi_coherence(
    predictions: PredictionTable, *, training: Sequence[Sequence[str]] = ()
) -> pd.DataFrame:
    """Return a row per dataset and system, or the reason for none."""
    pairs = pairs_of(training)
    known = WordPairs(pairs) if pairs else None
    return each_group("pmi_coherence", predictions, lambda group: _rows(group, known))


def _rows(group: Group, known: WordPairs | None) -> Iterator[dict[str, object]]:
    said = [(row.context, row.response) for row in group.rows if row.response is not None]
    if not said:
        return
    if known is None:
        yield group.row(reason=TRAINING_NEEDED)
        return
    values = [value for pair in said if (value := known.coherence(*pair)) is not None]
    yield group.row(**mean_row(values)) if values else group.row(reason=NO_WORDS)
