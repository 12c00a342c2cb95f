"""Replies of bots to the messages of a test set, and their measures where models run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

from bots.bot import BatchBot, Bot, Turn
from bots.dialogue import Example
from bots.text.tokens import normalize_answer

BATCH = 32


def replies_to(bot: Bot, turns: Sequence[Turn]) -> Iterator[str]:
    """Yield a bot's replies to the turns, in batches where it can."""
    for start in range(0, len(turns), BATCH):
        batch = turns[start : start + BATCH]
        if isinstance(bot, BatchBot):
            yield from (reply.text for reply in bot.respond_many(batch))
        else:
            yield from (bot.respond(*turn).text for turn in batch)


def answers(bot: Bot, examples: Sequence[Example]) -> Iterator[str]:
    """Return the bot's reply to each example, given its own persona, one after the other."""
    return replies_to(bot, [(each.persona, each.history) for each in examples])


def word_f1(reply: str, gold: str) -> float:
    """Return the overlap of words as ConvAI2 counted it (its released code); 0 if there is none."""
    one, other = (Counter(normalize_answer(text).split()) for text in (reply, gold))
    shared = (one & other).total()
    return 2 * shared / (one.total() + other.total()) if shared else 0.0


def area(positive: Sequence[float], negative: Sequence[float], share: float) -> float:
    """Return AUC@share: the area under the ROC up to this rate of false positives, over the rate.

    ASAPP (NLP4CONVAI 2019): its maximum is 1; linear between points. Equal scores are one point.
    """
    points = [(0.0, 0.0)]
    for least in sorted({*positive, *negative}, reverse=True):
        false = sum(each >= least for each in negative) / len(negative)
        points.append((false, sum(each >= least for each in positive) / len(positive)))
    total = 0.0
    for (x, y), (after, above) in pairwise(points):
        end = min(after, share)
        if after > x and end > x:
            total += (end - x) * (y + (above - y) * (end - x) / (after - x) / 2)
    return total / share


def distinct(texts: Sequence[str], size: int) -> float:
    """Return the share of n-grams that are different (hredGAN's denominator); 0 without any."""
    grams = [
        tuple(words[index : index + size])
        for words in (normalize_answer(text).split() for text in texts)
        for index in range(len(words) - size + 1)
    ]
    return len(set(grams)) / len(grams) if grams else 0.0
