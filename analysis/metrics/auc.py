"""AUC, and AUC@p, of the scores of right replies against wrong ones.

ASAPP's dual encoder (2019; NLP4CONVAI), table 3: p is .1, .05 and .01. All candidates of all
examples are pooled; the formula and what it is not are told in `analysis.roc`. `n` counts right
replies. No interval: scores of one example share its context, and the paper gives none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pandas as pd

from analysis.predicted import Group, each_group
from analysis.roc import area, curve
from analysis.tables import PredictionTable


def auc(
    predictions: PredictionTable, *, shares: Sequence[float] = (0.1, 0.05, 0.01)
) -> pd.DataFrame:
    """Return rows auc and auc@p per dataset and system with scores of both kinds."""
    return each_group("auc", predictions, lambda group: _rows(group, shares))


def _rows(group: Group, shares: Sequence[float]) -> Iterator[dict[str, object]]:
    marked = [
        (score, right)
        for row in group.rows
        if row.scores and any(row.right)
        for score, right in zip(row.scores, row.right, strict=True)
    ]
    positive = [score for score, right in marked if right]
    negative = [score for score, right in marked if not right]
    if not positive or not negative:
        return
    false, true = curve(positive, negative)
    about = {"n": len(positive), "negatives": len(negative)}
    yield group.row(estimate=area(false, true), **about)
    for p in shares:
        yield group.row(metric=f"auc@{p:g}", estimate=area(false, true, p), **about)
