"""What a ranker makes of a test set: the rows of a PredictionTable, and hits@1.

Source of the task: PERSONA-CHAT, section 3.1, and ConvAI2: the reply that was given, among
distractors drawn from other dialogues (19 there); those that say the same as it are drawn again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, Literal

from bots.bot import Ranker
from bots.dialogue import Dialogue, Example, Sides, examples
from bots.text import normalize_answer

Condition = Literal["none", "self", "their", "both"]
TRIES = 1000


class TooFewReplies(ValueError):
    """A test set without enough different replies to draw distractors from."""


@dataclass(frozen=True)
class Task:
    """How examples are turned into questions."""

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
    """Yield a row for each message of the side, or sides, that somebody spoke before."""
    found = list(examples(dialogues, task.sides))
    chance = Random(task.seed)  # noqa: S311
    asked = Random(task.seed).sample(found, min(task.limit, len(found))) if task.limit else found  # noqa: S311
    for place, example in enumerate(asked):
        offered = _offered(example, found, task.candidates, chance)
        if task.parrot:
            offered += _parrot(example, offered)
        persona = told(example, task.persona)
        scores = [float(score) for score in bot.rank(persona, example.history, offered)]
        best = max(range(len(offered)), key=scores.__getitem__)
        yield {
            "prediction": f"{system}:{place}",
            "system": system,
            "dataset": task.dataset,
            "example": example.id,
            "context": [turn.text for turn in example.history],
            "gold": example.reply,
            "response": offered[best],
            "candidates": offered,
            "scores": scores,
            "log_probs": None,
        }


def told(example: Example, condition: Condition) -> tuple[str, ...]:
    """Return what the bot is told of the two personas (PERSONA-CHAT's four conditions)."""
    own = example.persona if condition in ("self", "both") else ()
    return own + (example.partner_persona if condition in ("their", "both") else ())


def hits(rows: Sequence[Mapping[str, Any]]) -> float:
    """Return hits@1: the share of rows whose response is the gold one."""
    right = [row for row in rows if row["response"] == row["gold"]]
    return len(right) / len(rows)


def _parrot(example: Example, offered: Sequence[str]) -> list[str]:
    """Return the partner's last message, where there is one that no candidate says."""
    said = [turn.text for turn in example.history if turn.speaker == "partner"][-1:]
    known = {normalize_answer(text) for text in offered}
    return [text for text in said if normalize_answer(text) not in {"", *known}]


def _offered(example: Example, found: Sequence[Example], size: int, chance: Random) -> list[str]:
    """Return the gold reply and distractors in random order; no two say the same."""
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
