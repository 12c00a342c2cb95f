"""Per-token accuracy under teacher forcing, and -log D of what was generated.

L2E (2019; NLP4CONVAI), table 3: the share of the gold reply's tokens that were the most probable
next one; from the column `token_hits`, the mean over replies. hredGAN (2019), table 1: the mean
negative logarithm of the discriminator's score of the response; from the column `discriminator`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import pandas as pd

from analysis.predictions.prediction_rows import Group, each_group, mean_row
from analysis.tables.schema import PredictionTable

NOT_A_CHANCE = "discriminator has a score outside 0 to 1, 0 excluded; its logarithm is undefined"


def token_accuracy(predictions: PredictionTable) -> pd.DataFrame:
    """Return rows token_accuracy and neg_log_d for systems that have the columns."""
    return each_group("token_accuracy", predictions, _group_rows)


def _group_rows(group: Group) -> Iterator[dict[str, object]]:
    shares = [sum(row.token_hits) / len(row.token_hits) for row in group.rows if row.token_hits]
    if shares:
        yield group.row(metric="token_accuracy", **mean_row(shares, share=True))
    scores = [row.discriminator for row in group.rows if row.discriminator is not None]
    if scores and all(0 < score <= 1 for score in scores):
        yield group.row(metric="neg_log_d", **mean_row([-math.log(score) for score in scores]))
    elif scores:
        yield group.row(metric="neg_log_d", n=len(scores), reason=NOT_A_CHANCE)
