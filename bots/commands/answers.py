"""Answers of a bot in a test set, and the likelihood it gives the true replies: prediction rows.

The rows are a PredictionTable's, for metrics of generated text. Where a dictionary is given and the
bot is a language model, `log_probs` are ConvAI2's, word by word (`bots.generation.perplexity`).
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path
from random import Random
from typing import Any

from bots.bot import Bot, LanguageModel, Turn
from bots.commands.arguments import whole
from bots.commands.predictions import Task, persona_shown
from bots.commands.test_set_replies import replies_to
from bots.dialogue import Dialogue, Example, examples
from bots.generation.perplexity import PerplexityItem, dictionary, log_probs, perplexity
from bots.line_files import InvalidData, write_records


def answer(
    bot: Bot,
    system: str,
    dialogues: Sequence[Dialogue],
    task: Task,
    known: AbstractSet[str] = frozenset(),
) -> Iterator[dict[str, Any]]:
    """Yield a row per message of the side, or sides, that follows another message."""
    tested = list(examples(dialogues, task.sides))
    if task.limit:
        tested = Random(task.seed).sample(tested, min(task.limit, len(tested)))  # noqa: S311
    turns = [(persona_shown(each, task.persona), each.history) for each in tested]
    texts = replies_to(bot, turns)
    for index, (example, turn, text) in enumerate(zip(tested, turns, texts, strict=True)):
        yield {
            "prediction": f"{system}:{index}",
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
    parser.add_argument("--seed", type=whole(0), default=0, help="of the examples drawn by --limit")
    parser.add_argument(
        "--limit", type=whole(0), default=0, help="at most so many examples; 0: all"
    )
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
        "--least",
        type=whole(1),
        default=1,
        help="leave rarer words out of the dictionary (default 1)",
    )


def command(
    arguments: argparse.Namespace, bot: Bot, read: Callable[[Sequence[str]], list[Dialogue]]
) -> None:
    """Write the rows, and print the perplexity where there is one.

    Raises InvalidData if the data holds no message to answer.
    """
    task = Task(
        ",".join(arguments.data),
        seed=arguments.seed,
        persona=arguments.persona,
        sides=arguments.sides,
        limit=arguments.limit,
    )
    words = read(arguments.dictionary) if arguments.dictionary else []
    known = dictionary(words, arguments.least)
    rows = list(answer(bot, arguments.bot, read(arguments.data), task, known))
    if not rows:
        raise InvalidData([f"{task.dataset}: no message of the side to be answered"])
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    write_records(rows, arguments.out)
    scored = [row["log_probs"] for row in rows if row["log_probs"] is not None]
    likely = f"perplexity {perplexity(scored):.2f} of {len(known)} words; " if scored else ""
    print(f"{arguments.bot}: {len(rows)} answers; {likely}{arguments.out}")


def _likely(
    bot: Bot, turn: Turn, example: Example, known: AbstractSet[str]
) -> list[float | None] | None:
    if not known or not isinstance(bot, LanguageModel):
        return None
    return list(log_probs(bot, PerplexityItem(*turn, example.reply), known))
