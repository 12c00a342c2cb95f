"""Perplexity per word of several models over one dictionary: ConvAI2's rules, in batches.

Source: `bots.generation.perplexity`, which says the rules; here whole replies are given to models
at once. Models are comparable where they know the same words, so the dictionary is what all of them
know.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, Protocol

from bots.dialogue import Example
from bots.generation.decoding import StepModel
from bots.generation.perplexity import LogProbs
from bots.generation.teacher_forcing import foreseen

BATCH = 32


class Writes(Protocol):
    """A bot with a model of whole words."""

    @property
    def model(self) -> Any: ...


def shared_words(bots: Iterable[Writes]) -> frozenset[str]:
    """Return the words that all of them know."""
    return frozenset.intersection(*(frozenset(bot.model.codec.ids) for bot in bots))


def surprises(
    model: StepModel, tested: Sequence[Example], known: AbstractSet[str]
) -> list[LogProbs]:
    """Return the log-probabilities of the words of every reply."""
    found: list[LogProbs] = []
    for start in range(0, len(tested), BATCH):
        batch = tested[start : start + BATCH]
        turns = [(each.persona, each.history) for each in batch]
        found += foreseen(model, turns, [each.reply for each in batch], known)
    return found


def scored(replies: Iterable[LogProbs]) -> float:
    """Return the share of words that are scored: those in the dictionary."""
    words = [each for reply in replies for each in reply]
    return sum(each is not None for each in words) / max(1, len(words))
