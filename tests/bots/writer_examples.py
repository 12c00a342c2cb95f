"""Dialogues whose replies are easy to learn, and how well a writing bot foresees replies."""

from __future__ import annotations

import math
from collections.abc import Sequence
from random import Random

from bots import Dialogue, Example, Utterance, make_bot
from bots.generation.teacher_forcing import forced
from bots.writers.writer import Writer

LIKED = ("cats", "tea", "jazz")
QUICK = {"hidden": 32, "dimension": 24, "dropout": 0.0, "rate": 0.02, "batch": 16}


def likes(number: int, seed: int) -> list[Dialogue]:
    """Return dialogues in which only the persona tells what will be answered."""
    lot = Random(seed)
    return [_likes(str(place), lot.choice(LIKED)) for place in range(number)]


def _likes(name: str, liked: str) -> Dialogue:
    turns = (Utterance("partner", "what do you like ?"), Utterance("self", f"i like {liked} ."))
    return Dialogue(name, turns, persona=(f"i love {liked} .",))


def taught(name: str, dialogues: Sequence[Dialogue], **options: object) -> Writer:
    """Train a bot quickly."""
    settings: dict[str, object] = {**QUICK, "least_count": 1, "examples": 0, **options}
    bot = make_bot(name, **settings)
    assert isinstance(bot, Writer)
    bot.train(dialogues, seed=1)
    return bot


def perplexity(bot: Writer, asked: Sequence[Example], *, persona: bool = True) -> float:
    """Return exp of the mean negative log-probability of the replies' tokens, ends included."""
    turns = [(each.persona if persona else (), each.history) for each in asked]
    replies = [bot.model.codec.encode(each.reply) for each in asked]
    found = [log_prob for row in forced(bot.model, turns, replies) for log_prob in row]
    return math.exp(-sum(found) / len(found))


def falls(bot: Writer) -> bool:
    """Tell whether the held-out loss of a bot fell in every epoch of its training."""
    assert bot._about is not None
    losses = [entry["held_out"] for entry in bot._about.history]
    return len(losses) > 1 and losses == sorted(losses, reverse=True)
