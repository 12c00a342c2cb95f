"""Replies per second of a torch bot: 1, 8 and 32 conversations in one pass, against one by one.

python tests/benchmarks/replies_per_second.py [BOT] --weights DIR [--rounds N] [--threads N]

Medians of the rounds; both ways answer the same conversations, in turn.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

import torch

from bots import BatchBot, Bot, get_dataset, make_bot
from bots.bot import Turn

BATCHES = (1, 8, 32)


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("bot", nargs="?", default="profile_memory")
    parser.add_argument("--weights", required=True)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--threads", type=int, default=1)
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    bot = make_bot(given.bot, weights=given.weights)
    assert isinstance(bot, Bot)
    assert isinstance(bot, BatchBot)
    dialogues = get_dataset("demo").read("test")
    turns = [(each.persona, each.turns[:4]) for each in dialogues] * 2
    print(f"{given.bot}, {given.threads} thread(s), median of {given.rounds} rounds")
    print(f"{'waiting':>8} {'one pass/s':>12} {'one by one/s':>13} {'gain':>6}")
    for size in BATCHES:
        together, alone = measure(bot, bot, turns[:size], given.rounds)
        print(f"{size:>8} {together:>12.0f} {alone:>13.0f} {together / alone:>6.1f}")


def measure(batch: BatchBot, bot: Bot, turns: Sequence[Turn], rounds: int) -> tuple[float, float]:
    """Return replies per second in one pass and one by one, measured in turn."""
    together, alone = [], []
    for _ in range(rounds):
        together.append(seconds(lambda: batch.respond_many(turns)))
        alone.append(seconds(lambda: [bot.respond(*turn) for turn in turns]))
    return len(turns) / statistics.median(together), len(turns) / statistics.median(alone)


def seconds(run: Callable[[], object]) -> float:
    """Return how long something takes."""
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
