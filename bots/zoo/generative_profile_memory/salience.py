"""Salience of words, by how rare they are in everyday English.

Source: the persona metrics of the NLP4CONVAI workshop (alpha of P-Cover), used by Zhang et al. 2018
for persona memories too: alpha = 1 / (1 + log(1 + tf)), tf = 1e6 / rank ** 1.07 (Zipf). The rank is
wordfreq's; a word that it does not list comes after all that it does.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import cache

from wordfreq import top_n_list

LISTED = 100_000


def alphas(words: Iterable[str]) -> list[float]:
    """Return each word's weight, between 0 and 1."""
    ranks = _ranks()
    return [alpha(ranks.get(word, len(ranks) + 1)) for word in words]


def alpha(rank: int) -> float:
    """Return the weight of the word of this rank, counted from 1."""
    return 1 / (1 + math.log(1 + 1e6 / rank**1.07))


@cache
def _ranks() -> dict[str, int]:
    return {word: rank for rank, word in enumerate(top_n_list("en", LISTED), start=1)}
