"""BLEU of tokens (Papineni et al. 2002), 0 to 100, and the counts that it is made of.

Tokens are the caller's. Without smoothing, a text without a common n-gram of the highest order has
0, as in the multi-bleu script; with several references the closest length counts, as in sacrebleu
(Post 2018), which the tests compare with. The formula is here, and not sacrebleu's, because an
interval needs it for thousands of resamples at once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np

from analysis.stats.intervals import Floats
from analysis.tables.options import BadOption
from analysis.text.tokens import Gram, counted

Tokens = Sequence[str]
MOST = 4
EPSILON = 0.1


@dataclass(frozen=True)
class BleuCounts:
    """A row per text: matched n-grams, n-grams (orders 1 to 4), length, closest reference's."""

    rows: Floats

    def matched(self, n: int) -> int:
        """Return how many n-grams of all texts are among their references'."""
        return int(self.rows[:, n - 1].sum())

    def score(self, n: int = MOST) -> float:
        """Return BLEU-n of all texts together."""
        return float(scores(self.rows.sum(axis=0, keepdims=True), n)[0])

    def resampled(self, drawn: Floats, n: int = MOST) -> Floats:
        """Return BLEU-n of all texts together, for each row of how often each was drawn."""
        return scores(drawn @ self.rows, n)

    def sentences(self, n: int = MOST) -> Floats:
        """Return BLEU-n of each text by itself, orders without a match counted as .1.

        Orders that a text is too short for are left out.
        """
        return scores(self.rows, n, epsilon=EPSILON)


def checked_order(n: int) -> int:
    """Return the order of BLEU. Raises `BadOption` for one that is not counted."""
    if not 1 <= n <= MOST:
        raise BadOption("bleu_n", str(n), f"a whole number from 1 to {MOST}")
    return n


def counts(pairs: Sequence[tuple[Tokens, Sequence[Tokens]]]) -> BleuCounts:
    """Return the counts of predictions with their references."""
    return BleuCounts(np.array([_counts(*pair) for pair in pairs], dtype=float))


def sentence_bleu(response: Tokens, golds: Sequence[Tokens], n: int = MOST) -> float:
    """Return BLEU-n of one text without smoothing: 0 where no n-gram of order n is common."""
    return counts([(response, golds)]).score(n)


def scores(sums: Floats, n: int, epsilon: float = 0.0) -> Floats:
    """Return BLEU-n of each row of summed counts; with epsilon, smoothed as one sentence is."""
    matched, total = sums[:, :n], sums[:, MOST : MOST + n]
    response, gold = sums[:, -2], sums[:, -1]
    smoothed = np.where(matched > 0, matched, epsilon)
    counted_orders = total > 0 if epsilon else np.ones_like(total, dtype=bool)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.where(total > 0, np.log(smoothed / total), -np.inf)
        mean = np.where(counted_orders, logs, 0).sum(axis=1) / counted_orders.sum(axis=1)
        brevity = np.minimum(0, 1 - gold / response)
        found = 100 * np.exp(mean + brevity)
    return np.where(matched.any(axis=1), found, 0.0)


def _counts(response: Tokens, golds: Sequence[Tokens]) -> list[int]:
    matched, total = [], []
    for n in range(1, MOST + 1):
        here = counted(response, n)
        most: Counter[Gram] = reduce(lambda a, b: a | b, (counted(gold, n) for gold in golds))
        matched.append((here & most).total())
        total.append(here.total())
    closest = min((abs(len(gold) - len(response)), len(gold)) for gold in golds)[1]
    return [*matched, *total, len(response), closest]
