"""NIST (Doddington 2002): n-gram co-occurrence in which rare n-grams weigh more.

`info(w1..wn) = log2(count(w1..wn-1) / count(w1..wn))` over all references; the sum for matched
n-grams of each order is divided by the n-grams generated; orders are added. Brevity:
`exp(beta log²(min(L_said / L_gold, 1)))`, which is .5 at a ratio of 2/3; L_gold is the mean length
of an example's references, summed.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from functools import reduce

from analysis.text import Gram, counted

Tokens = Sequence[str]
Pair = tuple[Tokens, Sequence[Tokens]]
BETA = math.log(0.5) / math.log(1.5) ** 2
MOST = 5


def nist(pairs: Sequence[Pair], n: int = MOST) -> float:
    """Return the score of all predictions together, with n-grams up to n."""
    return by_order(pairs, n)[-1]


def by_order(pairs: Sequence[Pair], most: int = MOST) -> list[float]:
    """Return the score with n-grams up to 1, up to 2, and so on."""
    info = _information([gold for _, golds in pairs for gold in golds], most)
    brevity, total, found = _brevity(pairs), 0.0, []
    for order in range(1, most + 1):
        matches = (_matched(said, golds, order) for said, golds in pairs)
        gained = sum(info[gram] * times for match in matches for gram, times in match.items())
        generated = sum(max(len(said) - order + 1, 0) for said, _ in pairs)
        total += gained / generated if generated else 0.0
        found.append(total * brevity)
    return found


def _information(golds: Sequence[Tokens], n: int) -> dict[Gram, float]:
    counts: Counter[Gram] = Counter()
    for gold in golds:
        for order in range(1, n + 1):
            counts.update(counted(gold, order))
    total = sum(len(gold) for gold in golds)
    return {
        gram: math.log2((counts[gram[:-1]] if len(gram) > 1 else total) / times)
        for gram, times in counts.items()
    }


def _matched(said: Tokens, golds: Sequence[Tokens], order: int) -> Counter[Gram]:
    here = counted(said, order)
    most: Counter[Gram] = reduce(lambda a, b: a | b, (counted(gold, order) for gold in golds))
    return here & most


def _brevity(pairs: Sequence[Pair]) -> float:
    said = sum(len(tokens) for tokens, _ in pairs)
    gold = sum(sum(map(len, golds)) / len(golds) for _, golds in pairs)
    if not said or not gold:
        return 0.0
    return math.exp(BETA * math.log(min(said / gold, 1.0)) ** 2)
