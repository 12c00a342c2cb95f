"""Perplexity as ConvAI2 computed it: word by word, over one dictionary for all models.

Source: the official evaluation of ConvAI2 (Dinan et al. 2019, and its released code).
A model tells the probability of each next word given the true words before it. Words are `split`
tokens in lower case; probabilities are normalized over the dictionary; a word outside it is not
scored but still stands before the next; the end of a reply is not scored. Perplexity is exp of the
mean loss over all scored words; one of probability 0 makes it infinite.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from bots.bot import LanguageModel
from bots.dialogue import Dialogue, Utterance
from bots.text.tokens import split

LogProbs = tuple[float | None, ...]


@dataclass(frozen=True)
class PerplexityItem:
    """A true reply, and all that the model gets before it."""

    persona: Sequence[str]
    history: Sequence[Utterance]
    reply: str


def dictionary(dialogues: Iterable[Dialogue], least: int = 1) -> frozenset[str]:
    """Return the words of all personas and messages that occur at least so often."""
    counts: Counter[str] = Counter()
    for dialogue in dialogues:
        for text in (*dialogue.persona, *dialogue.partner_persona):
            counts.update(words(text))
        for turn in dialogue.turns:
            counts.update(words(turn.text))
    return frozenset(word for word, times in counts.items() if times >= least)


def words(text: str) -> list[str]:
    """Return the tokens that are scored."""
    return split(text.lower())


def log_probs(model: LanguageModel, item: PerplexityItem, known: AbstractSet[str]) -> LogProbs:
    """Return the log probability of each word of the reply; None for one not in the dictionary."""
    reply = words(item.reply)
    return tuple(
        _log_prob(model, item, reply[:index], word, known) if word in known else None
        for index, word in enumerate(reply)
    )


def perplexity(replies: Iterable[LogProbs]) -> float:
    """Return exp of the mean loss over the scored words of all replies.

    Raises ValueError if no word is scored.
    """
    scored = [each for reply in replies for each in reply if each is not None]
    if not scored:
        raise ValueError("no word of the replies is in the dictionary, so there is no perplexity")
    mean = -sum(scored) / len(scored)
    return math.inf if math.isinf(mean) else math.exp(mean)


def _log_prob(
    model: LanguageModel,
    item: PerplexityItem,
    prefix: Sequence[str],
    word: str,
    known: AbstractSet[str],
) -> float:
    chances = model.next_word(item.persona, item.history, prefix)
    here = chances.get(word, 0.0)
    total = math.fsum(chance for each, chance in chances.items() if each in known)
    return math.log(here / total) if here > 0 else -math.inf
