"""Toxicity of a text: logistic regression on words and pairs of words.

Source: the safety layer of MEENA (Adiwardana et al. 2020, section 5) has a classifier that is not
described; this one is ours, learned from the sentences of `bots.zoo.safety.toxicity_examples` when
first asked. It is small: it finds what is worded alike, and misses what is not.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import pairwise

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

from bots.text.tokens import words
from bots.zoo.safety.toxicity_examples import HARMLESS, TOXIC

PENALTY = 0.3  # of squared weights; ours


def toxicity(text: str) -> float:
    """Return the probability that a text is toxic."""
    numbers, weights = _learned()
    found = [numbers[each] for each in _features(text) if each in numbers]
    return float(expit(weights[-1] + weights[found].sum()))


def fit(texts: Sequence[str], labels: Sequence[bool]) -> tuple[dict[str, int], np.ndarray]:
    """Return the number of each feature, and the weights by number; the last is the intercept."""
    rows = [_features(text) for text in texts]
    listed = sorted({each for row in rows for each in row})
    numbers = {each: index for index, each in enumerate(listed)}
    features = np.zeros((len(rows), len(listed) + 1))
    features[:, -1] = 1
    for row, found in zip(features, rows, strict=True):
        row[[numbers[each] for each in found]] = 1
    signs = np.where(labels, 1.0, -1.0)

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        margins = signs * (features @ weights)
        value = np.logaddexp(0, -margins).sum() + PENALTY / 2 * (weights[:-1] ** 2).sum()
        slope = features.T @ (-signs * expit(-margins))
        slope[:-1] += PENALTY * weights[:-1]
        return float(value), slope

    found = minimize(loss, np.zeros(features.shape[1]), jac=True, method="L-BFGS-B")
    return numbers, found.x


@cache
def _learned() -> tuple[dict[str, int], np.ndarray]:
    labels = [True] * len(TOXIC) + [False] * len(HARMLESS)
    return fit((*TOXIC, *HARMLESS), labels)


def _features(text: str) -> frozenset[str]:
    marked = ["<", *words(text), ">"]
    pairs = {f"{a} {b}" for a, b in pairwise(marked)}
    return frozenset(pairs.union(marked[1:-1]))
