"""What bots say to the messages of a test set: rows of a PredictionTable, and word F1."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from bots.bot import BatchBot, Bot
from bots.dialogue import Example
from bots.forcing import forced
from bots.text import normalize_answer

BATCH = 32


def answers(bot: Bot, examples: Sequence[Example]) -> Iterator[str]:
    """Yield what the bot says to each example."""
    for start in range(0, len(examples), BATCH):
        turns = [(each.persona, each.history) for each in examples[start : start + BATCH]]
        if isinstance(bot, BatchBot):
            yield from (reply.text for reply in bot.respond_many(turns))
        else:
            yield from (bot.respond(*turn).text for turn in turns)


def written(
    bot: Any, system: str, dataset: str, examples: Sequence[Example]
) -> Iterator[dict[str, Any]]:
    """Yield the rows of a PredictionTable: what the bot says, and how likely it finds the truth.

    `log_probs` are those of the tokens of the true reply, where the bot has a likelihood.
    """
    said = list(answers(bot, examples))
    likely = list(_log_probs(bot, examples))
    for place, (example, text) in enumerate(zip(examples, said, strict=True)):
        yield {
            "prediction": f"{system}:{place}",
            "system": system,
            "dataset": dataset,
            "example": example.id,
            "context": [turn.text for turn in example.history],
            "gold": example.reply,
            "response": text,
            "candidates": None,
            "scores": None,
            "log_probs": likely[place] if likely else None,
        }


def _log_probs(bot: Any, examples: Sequence[Example]) -> Iterator[list[float]]:
    model = getattr(bot, "model", None)
    if model is None:
        return
    for start in range(0, len(examples), BATCH):
        batch = examples[start : start + BATCH]
        turns = [(each.persona, each.history) for each in batch]
        yield from forced(model, turns, [model.codec.encode(each.reply) for each in batch])


def word_f1(said: str, gold: str) -> float:
    """Return the overlap of words as ConvAI2 counted it (its released code); 0 if there is none."""
    one, other = (Counter(normalize_answer(text).split()) for text in (said, gold))
    shared = (one & other).total()
    return 2 * shared / (one.total() + other.total()) if shared else 0.0


def distinct(texts: Sequence[str], size: int) -> float:
    """Return the share of n-grams that are different (hredGAN's denominator); 0 without any."""
    grams = [
        tuple(words[place : place + size])
        for words in (normalize_answer(text).split() for text in texts)
        for place in range(len(words) - size + 1)
    ]
    return len(set(grams)) / len(grams) if grams else 0.0
