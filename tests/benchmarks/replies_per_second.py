"""Replies per second of a torch bot: 1, 8 and 32 conversations in one pass, against one by one.

python tests/benchmarks/replies_per_second.py [BOT] --weights DIR [--set OPTION=VALUE]
    [--rounds N] [--threads N]

People write on: each round is a turn further in the same conversations, and then come others, so
that a bot that keeps what it has encoded meets new words as it does when it serves. Each way has a
bot of its own, and both answer the same conversations, in turn. Medians of the rounds.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import cycle, islice
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

import torch

from bots import BatchBot, Bot, get_dataset, make_bot
from bots.bot import Turn

BATCHES = (1, 8, 32)
TURNS = (2, 4, 6, 8)


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("bot", nargs="?", default="profile_memory")
    parser.add_argument("--weights", required=True)
    parser.add_argument("--set", action="append", default=[], metavar="OPTION=VALUE")
    parser.add_argument("--rounds", type=int, default=16)
    parser.add_argument("--threads", type=int, default=1)
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    options = dict(each.split("=", 1) for each in given.set)
    print(f"{given.bot}, {given.threads} thread(s), median of {given.rounds} rounds")
    print(f"{'waiting':>8} {'one pass/s':>12} {'one by one/s':>13} {'gain':>6}")
    for size in BATCHES:
        batch, bot = (make_bot(given.bot, weights=given.weights, **options) for _ in range(2))
        assert isinstance(bot, Bot)
        assert isinstance(batch, BatchBot)
        together, alone = measure(batch, bot, islice(conversations(size), given.rounds), size)
        print(f"{size:>8} {together:>12.0f} {alone:>13.0f} {together / alone:>6.1f}")


def conversations(size: int) -> Iterator[list[Turn]]:
    """Yield what so many people have said after each turn, then what others have."""
    dialogues = list(get_dataset("demo").read("train"))
    for start in cycle(range(0, len(dialogues) - size + 1, size)):
        people = dialogues[start : start + size]
        for spoken in TURNS:
            yield [(each.persona, each.turns[:spoken]) for each in people]


def measure(
    batch: BatchBot, bot: Bot, rounds: Iterator[Sequence[Turn]], size: int
) -> tuple[float, float]:
    """Return replies per second in one pass and one by one, measured in turn."""
    together, alone = [], []
    for turns in rounds:
        together.append(seconds(partial(batch.respond_many, turns)))
        alone.append(seconds(partial(one_by_one, bot, turns)))
    return size / statistics.median(together), size / statistics.median(alone)


def one_by_one(bot: Bot, turns: Sequence[Turn]) -> None:
    for turn in turns:
        bot.respond(*turn)


def seconds(run: Callable[[], object]) -> float:
    """Return how long something takes."""
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
