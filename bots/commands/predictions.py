"""Predictions of a ranker on a test set: the rows of a PredictionTable, and hits@1.

Source of the task: PERSONA-CHAT, section 3.1, and ConvAI2: the reply that was given, among
distractors drawn from other dialogues (19 there); those that say the same as it are drawn again.

Source of 1-of-100: A Repository of Conversational Datasets (Henderson et al. 2019): batches of 100
examples, the other 99 replies are the negatives, the immediate context only; the mean over 500
batches. Two examples whose replies say the same never share a batch, and candidates are shuffled
anew for each.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any, Literal

from bots.bot import Ranker
from bots.dialogue import Dialogue, Example, Sides, Utterance, examples
from bots.text.tokens import normalize_answer

Condition = Literal["none", "self", "their", "both"]
TRIES = 1000
SIZE = 100  # of a batch
BATCHES = 500


class TooFewReplies(ValueError):
    """A test set without enough different replies to draw distractors from."""


@dataclass(frozen=True)
class Task:
    """A ranking task: how test examples become lists of candidates."""

    dataset: str
    candidates: int = 20
    seed: int = 0
    persona: Condition = "self"
    sides: Sides = "self"
    parrot: bool = False  # the partner's last message is one more candidate (ConvAI2, section 3.1)
    limit: int = 0  # at most so many examples, drawn by the seed; 0: all


def predict(
    bot: Ranker, system: str, dialogues: Sequence[Dialogue], task: Task
) -> Iterator[dict[str, Any]]:
    """Yield a row per message of the side, or sides, that follows another message."""
    found = list(examples(dialogues, task.sides))
    chance = Random(task.seed)  # noqa: S311
    tested = Random(task.seed).sample(found, min(task.limit, len(found))) if task.limit else found  # noqa: S311
    for index, example in enumerate(tested):
        offered = _offered(example, found, task.candidates, chance)
        if task.parrot:
            offered += _parrot(example, offered)
        persona = persona_shown(example, task.persona)
        scores = _scored(bot, persona, example.history, offered)
        yield {"prediction": f"{system}:{index}", **_row(system, task.dataset, example, scores)}


def persona_shown(example: Example, condition: Condition) -> tuple[str, ...]:
    """Return the persona that the bot gets (PERSONA-CHAT's four conditions)."""
    own = example.persona if condition in ("self", "both") else ()
    return own + (example.partner_persona if condition in ("their", "both") else ())


def hits(rows: Sequence[Mapping[str, Any]]) -> float:
    """Return hits@1: the share of rows whose response is the gold one."""
    right = [row for row in rows if row["response"] == row["gold"]]
    return len(right) / len(rows)


def _parrot(example: Example, offered: Sequence[str]) -> list[str]:
    """Return the partner's last message, if there is one that no candidate repeats."""
    last = [turn.text for turn in example.history if turn.speaker == "partner"][-1:]
    known = {normalize_answer(text) for text in offered}
    return [text for text in last if normalize_answer(text) not in {"", *known}]


def _offered(example: Example, found: Sequence[Example], size: int, chance: Random) -> list[str]:
    """Return the gold reply and distractors in random order, all different."""
    offered = {normalize_answer(example.reply): example.reply}
    for _ in range(TRIES * size):
        if len(offered) == size:
            break
        drawn = chance.choice(found)
        if drawn.dialogue != example.dialogue:
            offered.setdefault(normalize_answer(drawn.reply), drawn.reply)
    if len(offered) < size:
        raise TooFewReplies(
            f"example {example.id}: other dialogues have only {len(offered) - 1} different "
            f"replies to draw {size - 1} distractors from; give more dialogues, "
            "or ask for fewer candidates"
        )
    return chance.sample(list(offered.values()), size)


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
    """Yield a row per example of each batch; the messages of both sides are examples.

    Raises TooFewReplies if a batch cannot be filled.
    """
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
            context = example.history[-1:]
            scores = _scored(bot, (), context, offered)
            row = _row(system, dataset, replace(example, history=context), scores)
            name = f"{batch}:{example.id}"
            changed = {"example": name, "batch": f"{batch}"}
            yield {"prediction": f"{system}:{name}", **row, **changed}


def _different(listed: Iterator[Example]) -> list[Example]:
    """Return the examples with different replies, the first of each."""
    found: dict[str, Example] = {}
    for example in listed:
        found.setdefault(normalize_answer(example.reply), example)
    return list(found.values())


def _scored(
    bot: Ranker, persona: Sequence[str], history: Sequence[Utterance], offered: Sequence[str]
) -> dict[str, float]:
    """Return the score of each candidate, which all differ."""
    scores = bot.rank(persona, history, offered)
    return {text: float(score) for text, score in zip(offered, scores, strict=True)}


def _row(
    system: str, dataset: str, example: Example, scores: Mapping[str, float]
) -> dict[str, Any]:
    return {
        "system": system,
        "dataset": dataset,
        "example": example.id,
        "context": [turn.text for turn in example.history],
        "gold": example.reply,
        "response": max(scores, key=scores.__getitem__),
        "candidates": list(scores),
        "scores": list(scores.values()),
        "log_probs": None,
    }
