"""PMI coherence: how well the words of a response go with those of the history.

Event causality (2019; NLP4CONVAI): mean over the response's words of the highest PMI with a word of
the history, 0 for pairs never seen. PMI(w, h) = log(P(w, h) / (P(w) P(h))), natural; PPMI =
max(log2(P(x, y) / (P_Q(x) P_R(y))), 0). P is the share of pairs of message and reply with the word
in the message, in the reply, or with both (also in the PPMI keyword model, 2019). The papers do not
say how often a word counts within one sentence; here once. `training` are conversations, each a
list of messages, from whose neighboring messages PMI is counted.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

import pandas as pd

from analysis.predictions.prediction_rows import Group, each_group, mean_row
from analysis.tables.options import TRAINING_NEEDED
from analysis.tables.schema import PredictionTable
from analysis.text.tokenizers import WORDS, NamedTokenizer, with_tokenizer
from analysis.text.tokens import Tokenizer, words

SIMULATED_AS = ("nasl",)  # its length: a mean over examples

NO_WORDS = "no response has a word"


def pmi_coherence(
    predictions: PredictionTable,
    *,
    training: Sequence[Sequence[str]] = (),
    tokenizer: NamedTokenizer = WORDS,
) -> pd.DataFrame:
    """Return a row per dataset and system, or the reason for none."""
    pairs = pairs_of(training)
    known = WordPairs(pairs, tokenizer.words) if pairs else None
    found = each_group("pmi_coherence", predictions, lambda group: _group_rows(group, known))
    return with_tokenizer(found, tokenizer.name)


def _group_rows(group: Group, known: WordPairs | None) -> Iterator[dict[str, object]]:
    pairs = [(row.context, row.response) for row in group.rows if row.response is not None]
    if not pairs:
        return
    if known is None:
        yield group.row(reason=TRAINING_NEEDED)
        return
    values = [value for pair in pairs if (value := known.coherence(*pair)) is not None]
    yield group.row(**mean_row(values)) if values else group.row(reason=NO_WORDS)


class WordPairs:
    """Counts of words and of pairs of words over pairs of message and reply."""

    def __init__(self, pairs: Iterable[tuple[str, str]], words: Tokenizer = words) -> None:
        self.words = words
        self.total = 0
        self.messages: Counter[str] = Counter()
        self.replies: Counter[str] = Counter()
        self.both: Counter[tuple[str, str]] = Counter()
        for message, reply in pairs:
            message_words, reply_words = set(words(message)), set(words(reply))
            self.total += 1
            self.messages.update(message_words)
            self.replies.update(reply_words)
            self.both.update((x, y) for x in message_words for y in reply_words)

    def pmi(self, message: str, reply: str) -> float:
        """Return PMI of a word in a message and one in its reply; 0 for a pair never seen."""
        together = self.both[message, reply]
        if not together:
            return 0.0
        return math.log(together * self.total / (self.messages[message] * self.replies[reply]))

    def ppmi(self, message: str, reply: str) -> float:
        """Return positive PMI, in bits."""
        return max(self.pmi(message, reply) / math.log(2), 0.0)

    def coherence(self, history: Sequence[str], reply: str) -> float | None:
        """Return the mean over the reply's words of the highest PMI with a word of the history."""
        reply_words = self.words(reply)
        heard = {word for text in history for word in self.words(text)}
        if not reply_words:
            return None
        best = (max((self.pmi(h, w) for h in heard), default=0.0) for w in reply_words)
        return sum(best) / len(reply_words)


def pairs_of(conversations: Iterable[Sequence[str]]) -> list[tuple[str, str]]:
    """Return every message with the one that followed it."""
    return [pair for texts in conversations for pair in pairwise(texts)]
