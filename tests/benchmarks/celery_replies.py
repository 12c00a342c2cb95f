"""Replies per second through Celery: 1, 8, 32 and 64 waiting jobs, beside the bare model loop.

    python -m tests.benchmarks.celery_replies [--rounds 5]

The bot and the servers are those of `tests.benchmarks.reply_jobs`. Time is from the commit of the
messages until the last reply is shown. Beside it, in turn, the same bot is called in a bare loop at
the same batch, in a process as nice as a worker's child. Asked: 32 waiting at least 4 times one by
one and at least 0.8 of the bare loop. The burst beside celery-batches is `tests.benchmarks.bursts`.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import time
from typing import Any

from tests.benchmarks.reply_jobs import BOT, WORKER, Jobs, computed, study, text, worker
from tests.live import ROOT

COUNTS = (1, 8, 32, 64)


class Bare:
    """The bot alone, in a process of its own; it is told how many to answer, and says how long."""

    def __init__(self, options: dict[str, Any]) -> None:
        command = [sys.executable, "-m", "tests.benchmarks.celery_replies", "--bare"]
        self.process = subprocess.Popen(
            [*command, json.dumps(options)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def seconds(self, count: int) -> tuple[float, float]:
        """Return the seconds that so many replies take, and those that were computed."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        print(count, file=self.process.stdin, flush=True)
        took, cpu = self.process.stdout.readline().split()
        return float(took), float(cpu)

    def close(self) -> None:
        self.process.communicate()


def bare(options: dict[str, Any]) -> None:
    """Answer as many as each line of the input says, and print the seconds."""
    import torch

    from bots import Utterance, make_bot
    from webapp.inference import NICENESS

    os.nice(NICENESS)
    torch.set_num_threads(1)
    bot: Any = make_bot(BOT, **options)
    chance = random.Random(1)
    for line in sys.stdin:
        turns = [((), (Utterance("partner", text(chance)),)) for _ in range(int(line))]
        started, cpu = time.perf_counter(), time.process_time()
        bot.respond_many(turns)
        print(time.perf_counter() - started, time.process_time() - cpu, flush=True)


def waiting(jobs: Jobs, options: dict[str, Any], rounds: int, tree: int) -> None:
    """Print replies/s with so many waiting, beside the bare loop.

    The last column compares what both computed: on a machine that does other things besides, the
    path's waits for a core count in time, and not there.
    """
    loop = Bare(options)
    loop.seconds(1)
    found: dict[int, list[tuple[float, ...]]] = {count: [] for count in COUNTS}
    for _ in range(rounds):
        for count in COUNTS:
            before = computed(tree)
            ours = jobs.at_once(count, lambda new: None)
            cpu = computed(tree) - before
            found[count].append((ours, cpu, *loop.seconds(count)))
    loop.close()
    print(f"{'waiting':>8} {'Celery/s':>9} {'bare/s':>9} {'of bare':>8} {'gain':>6} {'by CPU':>8}")
    first = 0.0
    for count, rows in found.items():
        took, cpu, alone, cpu_alone = map(statistics.median, zip(*rows, strict=True))
        first = first or 1 / took
        row = f"{count:8} {count / took:9.1f} {count / alone:9.1f} {alone / took:8.2f}"
        print(f"{row} {count / took / first:5.1f}x {cpu_alone / cpu:8.2f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--hidden", type=int, default=512)
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--bare", help=argparse.SUPPRESS)
    given: Any = parser.parse_args()
    if given.bare:
        bare(json.loads(given.bare))
        return
    with study(given.hidden, given.layers) as (jobs, options), worker(WORKER) as tree:
        jobs.at_once(1, lambda new: None)  # the bot is loaded
        waiting(jobs, options, given.rounds, tree)


if __name__ == "__main__":
    main()
