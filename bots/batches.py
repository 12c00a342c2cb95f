"""1-of-100: a ranker chooses among the replies of a random batch; rows of a PredictionTable.

Source: A Repository of Conversational Datasets (Henderson et al. 2019): batches of 100 examples,
the other 99 replies are the negatives, the immediate context only; the mean over 500 batches. Two
examples whose replies say the same never share a batch, and candidates are shuffled anew for each.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

from bots.bot import Ranker
from bots.dialogue import Dialogue, Example, examples
from bots.predictions import TooFewReplies
from bots.text import normalize_answer

SIZE = 100
BATCHES = 500


def batched(
    bot: Ranker,
    system: str,
    dialogues: Sequence[Dialogue],
    dataset: str,
    *,
    seed: int,
    batches: int = BATCHES,
    size: int = SIZE,
) -> Iterator[dict[str, Any]]:
    """Yield a row for each example of each batch; both sides' messages are examples."""
    found = _different(examples(dialogues))
    if len(found) < size:
        raise TooFewReplies(
            f"{dataset}: only {len(found)} different replies, but a batch needs {size}; "
            "give more dialogues"
        )
    chance = Random(seed)  # noqa: S311
    for batch in range(batches):
        drawn = chance.sample(found, size)
        for example in drawn:
            offered = [each.reply for each in drawn]
            chance.shuffle(offered)
            yield _row(bot, system, dataset, f"{batch}", example, offered)


def _different(given: Iterator[Example]) -> list[Example]:
    """Return the examples whose replies say different things, the first of each."""
    found: dict[str, Example] = {}
    for example in given:
        found.setdefault(normalize_answer(example.reply), example)
    return list(found.values())


def _row(
    bot: Ranker, system: str, dataset: str, batch: str, example: Example, offered: list[str]
) -> dict[str, Any]:
    scores = [float(score) for score in bot.rank((), example.history[-1:], offered)]
    best = max(range(len(offered)), key=scores.__getitem__)
    return {
        "prediction": f"{system}:{batch}:{example.id}",
        "system": system,
        "dataset": dataset,
        "example": f"{batch}:{example.id}",
        "context": [turn.text for turn in example.history[-1:]],
        "gold": example.reply,
        "response": offered[best],
        "candidates": offered,
        "scores": scores,
        "log_probs": None,
        "batch": batch,
    }
