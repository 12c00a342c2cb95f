"""Pointwise mutual information of words in a message and in its reply.

PMI(w, h) = log(P(w, h) / (P(w) P(h))), natural; PPMI = max(log2(P(x, y) / (P_Q(x) P_R(y))), 0).
P is over pairs of message and reply: the share with the word in the message, in the reply, or with
both (event causality and PPMI keyword model, 2019; NLP4CONVAI). Neither paper says how often a word
counts within one sentence; here once.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise

from analysis.text import words


class WordPairs:
    """Counts of words and of pairs of words over pairs of message and reply."""

    def __init__(self, pairs: Iterable[tuple[str, str]]) -> None:
        self.total = 0
        self.messages: Counter[str] = Counter()
        self.replies: Counter[str] = Counter()
        self.both: Counter[tuple[str, str]] = Counter()
        for message, reply in pairs:
            asked, said = set(words(message)), set(words(reply))
            self.total += 1
            self.messages.update(asked)
            self.replies.update(said)
            self.both.update((x, y) for x in asked for y in said)

    def pmi(self, message: str, reply: str) -> float:
        """Return PMI of a word in a message and one in its reply; 0 for a pair never seen."""
        together = self.both[message, reply]
        if not together:
            return 0.0
        return math.log(together * self.total / (self.messages[message] * self.replies[reply]))

    def ppmi(self, message: str, reply: str) -> float:
        """Return positive PMI, in bits."""
        return max(self.pmi(message, reply) / math.log(2), 0.0)

    def keyword_score(self, message: Sequence[str], candidate: str) -> float:
        """Return how well a word fits a reply to the message: the sum over the message's words."""
        return sum(self.ppmi(word, candidate) for word in message)

    def coherence(self, history: Sequence[str], reply: str) -> float | None:
        """Return the mean over the reply's words of the highest PMI with a word of the history."""
        said = words(reply)
        heard = {word for text in history for word in words(text)}
        if not said:
            return None
        return sum(max((self.pmi(h, w) for h in heard), default=0.0) for w in said) / len(said)


def pairs_of(conversations: Iterable[Sequence[str]]) -> list[tuple[str, str]]:
    """Return every message with the one that followed it."""
    return [pair for texts in conversations for pair in pairwise(texts)]
