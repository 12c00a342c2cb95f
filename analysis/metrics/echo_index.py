"""REI, THRED's response echo index: are replies new, or echoes of the training data?

Dziri et al. 2019; the formula is in `analysis.echo`. 0 to 1, lower is better; the mean over
examples. `training` are the conversations that the systems learned from, each a list of messages;
a random tenth of their messages is compared with, drawn by `seed`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pandas as pd

from analysis.echo import EchoIndex, sample
from analysis.options import TRAINING_NEEDED
from analysis.predicted import Group, each_group, mean_row
from analysis.tables import PredictionTable


def echo_index(
    predictions: PredictionTable, *, seed: int = 0, training: Sequence[Sequence[str]] = ()
) -> pd.DataFrame:
    """Return a row per dataset and system, or the reason for none."""
    messages = [text for conversation in training for text in conversation]
    index = EchoIndex(sample(messages, seed=seed)) if messages else None
    return each_group("echo_index", predictions, lambda group: _rows(group, index))


def _rows(group: Group, index: EchoIndex | None) -> Iterator[dict[str, object]]:
    said = [row.response for row in group.rows if row.response is not None]
    if said and index is None:
        yield group.row(reason=TRAINING_NEEDED)
    elif said and index is not None:
        yield group.row(**mean_row([index.score(text) for text in said], share=True))
