"""AUC, and AUC@p, of the scores of right replies against wrong ones.

ASAPP's dual encoder (2019; NLP4CONVAI), table 3: AUC@p is the area under the ROC curve up to a
false-positive rate of p (.1, .05 and .01), divided by p, so that its maximum is 1; the curve is
interpolated at p. This is not McClish's rescaling, which libraries offer as `max_fpr` and which
puts chance at .5. All candidates of all examples are pooled. `n` counts right replies. No interval:
scores of one example share its context, and the paper gives none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from analysis.predictions.prediction_rows import Group, each_group
from analysis.stats.intervals import Floats
from analysis.tables.schema import PredictionTable

NO_INTERVAL = "scores of an example share its context"


def auc(
    predictions: PredictionTable, *, shares: Sequence[float] = (0.1, 0.05, 0.01)
) -> pd.DataFrame:
    """Return rows auc and auc@p per dataset and system with scores of both kinds."""
    return each_group("auc", predictions, lambda group: _group_rows(group, shares))


def _group_rows(group: Group, shares: Sequence[float]) -> Iterator[dict[str, object]]:
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


def curve(positive: Sequence[float], negative: Sequence[float]) -> tuple[Floats, Floats]:
    """Return false- and true-positive rates at every threshold; ties are one step of the curve."""
    scores = np.concatenate([np.asarray(positive, float), np.asarray(negative, float)])
    good = np.concatenate([np.ones(len(positive)), np.zeros(len(negative))])
    order = np.argsort(-scores, kind="stable")
    steps = np.flatnonzero(np.append(scores[order][1:] != scores[order][:-1], True))
    true = np.cumsum(good[order])[steps] / len(positive)
    false = np.cumsum(1 - good[order])[steps] / len(negative)
    return np.append(0.0, false), np.append(0.0, true)


def area(false: Floats, true: Floats, p: float = 1.0) -> float:
    """Return the area under the curve up to the false-positive rate p, divided by p."""
    within = false < p
    x = np.append(false[within], p)
    y = np.append(true[within], _height(false, true, p))
    return float(np.trapezoid(y, x)) / p


def _height(false: Floats, true: Floats, p: float) -> float:
    """Return the curve at p; where it rises straight up there, the foot: the area is the same."""
    k = int(np.searchsorted(false, p, side="left"))
    if false[k] == p:
        return float(true[k])
    share = (p - false[k - 1]) / (false[k] - false[k - 1])
    return float(true[k - 1] + share * (true[k] - true[k - 1]))
