"""The ROC curve of scores, and the area under its beginning.

ASAPP's dual encoder (2019; NLP4CONVAI): AUC@p is the area up to a false-positive rate of p, divided
by p, so that its maximum is 1; the curve is interpolated at p. This is not McClish's rescaling,
which libraries offer as `max_fpr` and which puts chance at .5.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from analysis.intervals import Floats


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
