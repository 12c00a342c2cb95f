"""A rush of 64 people, answered by our worker and by one made with celery-batches.

    python -m tests.benchmarks.bursts [--rounds 3] [--turns 3] [--rival threads:0.05 ...]

Everybody says something, and again within 0.3 s of each reply: more than any worker can answer one
by one. Both ways have the same bot, database, broker and largest batch (`reply_jobs`); the time is
from the first message to the last reply shown. celery-batches is set up as its documentation asks:
as many prefetched as it likes, a batch after so many jobs or after an interval. The interval is its
user's choice between two evils, so that several are shown: a lone person waits for it, a short one
flushes before a batch is full. Asked: at least 5 times its replies/s. Rounds take turns.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.benchmarks import reply_jobs
from tests.benchmarks.reply_jobs import PEOPLE, WORKER, Jobs, Send, computed

PAUSE = 0.3  # seconds until somebody says more
MODULE = ("-A", "tests.benchmarks.batches_rival", "worker")
RIVALS = ("threads:0.02", "threads:0.05", "threads:0.1", "threads:0.5", "solo:0.05")


Way = tuple[Send, int]  # how a job gets there, and the worker's process


@dataclass
class Found:
    """Of lone replies the seconds; of rushes replies/s, jobs of a batch, seconds computed."""

    lone: list[float] = field(default_factory=list)
    rates: list[float] = field(default_factory=list)
    sizes: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)

    def add(self, jobs: Jobs, turns: int, way: Way) -> None:
        """Measure once more."""
        send, tree = way
        self.lone += [jobs.at_once(1, send) for _ in range(3)]
        count, before = turns * PEOPLE, computed(tree)
        self.rates.append(count / jobs.rush(turns, PAUSE, send))
        self.cpu.append((computed(tree) - before) / count)
        self.sizes.append(jobs.batch(count))

    @property
    def medians(self) -> tuple[float, float, float, float]:
        """Milliseconds, replies/s, jobs, milliseconds a reply."""
        found = (self.lone, self.rates, self.sizes, self.cpu)
        lone, rate, size, cpu = map(statistics.median, found)
        return 1000 * lone, rate, size, 1000 * cpu


def hinted(new: list[int]) -> None:
    """Do nothing: a hint went out with the commit."""


def sender(queue: str) -> Send:
    """Return what gives each job to the rival of this queue, as a task."""
    from tests.benchmarks import batches_rival

    def send(new: list[int]) -> None:
        for pk in new:
            batches_rival.app.send_task("rival.reply", [pk], queue=queue)

    return send


@contextmanager
def rivals(jobs: Jobs, wanted: Sequence[str]) -> Iterator[Mapping[str, Way]]:
    """Start all rivals and let each load the bot; they do nothing unless they are sent tasks."""
    found: dict[str, Way] = {}
    with ExitStack() as running:
        for name in wanted:
            pool, _, interval = name.partition(":")
            arguments = (*MODULE, "-Q", name, "-P", pool, "-c", "1")
            tree = running.enter_context(reply_jobs.worker(arguments, FLUSH=interval))
            found[name] = sender(name), tree
        for send, _ in found.values():
            jobs.at_once(1, send)
        yield found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--turns", type=int, default=3, help="messages of each person")
    parser.add_argument("--rival", action="append", help="Celery's pool and the interval in s")
    given: Any = parser.parse_args()
    found: dict[str, Found] = {"Parley": Found()}
    with reply_jobs.study() as (jobs, _), rivals(jobs, given.rival or RIVALS) as ways:
        for _ in range(given.rounds):
            with reply_jobs.worker(WORKER) as tree:  # beside rivals it would find their jobs
                jobs.at_once(1, hinted)  # the bot is loaded
                found["Parley"].add(jobs, given.turns, (hinted, tree))
            for name, way in ways.items():
                found.setdefault(f"celery-batches {name} s", Found()).add(jobs, given.turns, way)
            show(found)


def show(found: Mapping[str, Found]) -> None:
    """Print the table; the last two columns are what was computed, not how long it took."""
    _, best, _, least = found["Parley"].medians
    heads = f"{'lone ms':>8} {'replies/s':>10} {'batch':>6} {'Parley is':>10}"
    print(f"{'a rush of 64 people':32} {heads} {'CPU ms':>7} {'Parley is':>10}")
    for name, each in found.items():
        lone, rate, size, cpu = each.medians
        row = f"{name:32} {lone:8.0f} {rate:10.1f} {size:6.1f} {best / rate:9.1f}x"
        print(f"{row} {cpu:7.1f} {cpu / least:9.1f}x", flush=True)


if __name__ == "__main__":
    main()
