"""What a bot answers in a test set, and how likely it finds the true replies: prediction rows.

The rows are a PredictionTable's, for metrics of generated text. Where a dictionary is given and the
bot is a language model, `log_probs` are ConvAI2's, word by word (`bots.perplexity`).
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path
from random import Random
from typing import Any

from bots.bot import Bot, LanguageModel, Turn
from bots.dialogue import Dialogue, Example, examples
from bots.lines import InvalidData, write_records
from bots.perplexity import Question, dictionary, log_probs, perplexity
from bots.predictions import Task, told
from bots.wording import said


def answer(
    bot: Bot,
    system: str,
    dialogues: Sequence[Dialogue],
    task: Task,
    known: AbstractSet[str] = frozenset(),
) -> Iterator[dict[str, Any]]:
    """Yield a row for each message of the side, or sides, that somebody spoke before."""
    asked = list(examples(dialogues, task.sides))
    if task.limit:
        asked = Random(task.seed).sample(asked, min(task.limit, len(asked)))  # noqa: S311
    turns = [(told(each, task.persona), each.history) for each in asked]
    texts = said(bot, turns)
    for place, (example, turn, text) in enumerate(zip(asked, turns, texts, strict=True)):
        yield {
            "prediction": f"{system}:{place}",
            "system": system,
            "dataset": task.dataset,
            "example": example.id,
            "context": [each.text for each in example.history],
            "gold": example.reply,
            "response": text,
            "candidates": None,
            "scores": None,
            "log_probs": _likely(bot, turn, example, known),
        }


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `python -m bots answer`."""
    parser.add_argument("--weights", type=Path)
    parser.add_argument("--out", type=Path, required=True, help="a JSON Lines file")
    parser.add_argument("--seed", type=int, default=0, help="of the examples drawn by --limit")
    parser.add_argument("--limit", type=int, default=0, help="at most so many examples; 0: all")
    parser.add_argument("--persona", choices=("none", "self", "their", "both"), default="self")
    parser.add_argument("--sides", choices=("self", "both"), default="self")
    parser.add_argument(
        "--dictionary",
        action="append",
        default=[],
        metavar="KIND:PATH",
        help="data whose words are the dictionary of a language model's perplexity",
    )
    parser.add_argument(
        "--least", type=int, default=1, help="leave rarer words out of the dictionary (default 1)"
    )


def command(
    given: argparse.Namespace, bot: Bot, read: Callable[[Sequence[str]], list[Dialogue]]
) -> None:
    """Write the rows, and print the perplexity where there is one."""
    task = Task(
        ",".join(given.data),
        seed=given.seed,
        persona=given.persona,
        sides=given.sides,
        limit=given.limit,
    )
    words = read(given.dictionary) if given.dictionary else []
    known = dictionary(words, given.least)
    rows = list(answer(bot, given.bot, read(given.data), task, known))
    if not rows:
        raise InvalidData([f"{task.dataset}: no message of the side to be answered"])
    given.out.parent.mkdir(parents=True, exist_ok=True)
    write_records(rows, given.out)
    scored = [row["log_probs"] for row in rows if row["log_probs"] is not None]
    likely = f"perplexity {perplexity(scored):.2f} of {len(known)} words; " if scored else ""
    print(f"{given.bot}: {len(rows)} answers; {likely}{given.out}")


def _likely(
    bot: Bot, turn: Turn, example: Example, known: AbstractSet[str]
) -> list[float | None] | None:
    if not known or not isinstance(bot, LanguageModel):
        return None
    return list(log_probs(bot, Question(*turn, example.reply), known))
