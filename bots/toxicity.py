"""How likely a text is not fit to be said: logistic regression on words and pairs of words.

Source: the safety layer of MEENA (Adiwardana et al. 2020, section 5) has a classifier that is not
described; this one is ours, learned from the sentences of `bots.toxicity_examples` when first
asked. It is small: it finds what is worded alike, and misses what is not.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import pairwise

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

from bots.text import words
from bots.toxicity_examples import HARMLESS, TOXIC

PENALTY = 0.3  # of squared weights; ours


def toxicity(text: str) -> float:
    """Return the probability that a text must not be said."""
    numbers, weights = _learned()
    found = [numbers[each] for each in _features(text) if each in numbers]
    return float(expit(weights[-1] + weights[found].sum()))


def fit(texts: Sequence[str], labels: Sequence[bool]) -> tuple[dict[str, int], np.ndarray]:
    """Return the number of each feature, and the weights by number; the last is the intercept."""
    rows = [_features(text) for text in texts]
    listed = sorted({each for row in rows for each in row})
    numbers = {each: place for place, each in enumerate(listed)}
    seen = np.zeros((len(rows), len(listed) + 1))
    seen[:, -1] = 1
    for row, found in zip(seen, rows, strict=True):
        row[[numbers[each] for each in found]] = 1
    signs = np.where(labels, 1.0, -1.0)

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        margins = signs * (seen @ weights)
        value = np.logaddexp(0, -margins).sum() + PENALTY / 2 * (weights[:-1] ** 2).sum()
        slope = seen.T @ (-signs * expit(-margins))
        slope[:-1] += PENALTY * weights[:-1]
        return float(value), slope

    found = minimize(loss, np.zeros(seen.shape[1]), jac=True, method="L-BFGS-B")
    return numbers, found.x


@cache
def _learned() -> tuple[dict[str, int], np.ndarray]:
    labels = [True] * len(TOXIC) + [False] * len(HARMLESS)
    return fit((*TOXIC, *HARMLESS), labels)


def _features(text: str) -> frozenset[str]:
    said = ["<", *words(text), ">"]
    pairs = {f"{a} {b}" for a, b in pairwise(said)}
    return frozenset(pairs.union(said[1:-1]))
