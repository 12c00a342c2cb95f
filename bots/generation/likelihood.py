"""Perplexity per token and per word of a model whose tokens are not words.

Source: MEENA (Adiwardana et al. 2020, section 4.1) compares perplexities per token of one
vocabulary. Models with other vocabularies are compared per word: the same loss in nats divided by
the number of words (`bots.text.tokens.split`), the end of a message counting as one both times.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from bots.dialogue import Example
from bots.generation.decoding import StepModel
from bots.generation.teacher_forcing import forced
from bots.text.tokens import split

BATCH = 32


@dataclass(frozen=True)
class Likelihood:
    """The loss of a model on some replies, in nats."""

    nats: float
    tokens: int
    words: int

    @property
    def per_token(self) -> float:
        """Perplexity of a token."""
        return math.exp(self.nats / self.tokens)

    @property
    def per_word(self) -> float:
        """Perplexity of a word: that of a token to the power of tokens per word."""
        return math.exp(self.nats / self.words)


def measure(model: StepModel, examples: Sequence[Example]) -> Likelihood:
    """Return the loss of a model on the true replies, summed. Raises ValueError without replies."""
    nats, tokens, words = 0.0, 0, 0
    for start in range(0, len(examples), BATCH):
        batch = examples[start : start + BATCH]
        replies = [model.codec.encode(each.reply) for each in batch]
        rows = forced(model, [(each.persona, each.history) for each in batch], replies)
        nats -= sum(map(sum, rows))
        tokens += sum(map(len, rows))
        words += sum(len(split(each.reply)) + 1 for each in batch)
    if not tokens:
        raise ValueError("there is no reply to measure a likelihood on")
    return Likelihood(nats, tokens, words)
