"""Diversity of a set of generated texts; each function takes the tokens of every text."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from analysis.text.tokens import Gram, counted, ngrams

Tokens = Sequence[str]


def distinct(texts: Sequence[Tokens], n: int) -> tuple[int, int, int]:
    """Return unique n-grams, all n-grams and all words."""
    grams = [gram for tokens in texts for gram in ngrams(tokens, n)]
    return len(set(grams)), len(grams), sum(map(len, texts))


def entropy(texts: Sequence[Tokens], n: int) -> float:
    """Return ent-n (Zhang et al. 2018, NeurIPS), `-(1/ΣF) Σ F log(F/ΣF)`, natural logarithm."""
    counts: Counter[Gram] = Counter()
    for tokens in texts:
        counts.update(counted(tokens, n))
    total = counts.total()
    return -sum(times / total * math.log(times / total) for times in counts.values())


def repetitions(tokens: Tokens) -> int:
    """Return how many tokens have stood in the text before."""
    return len(tokens) - len(set(tokens))
