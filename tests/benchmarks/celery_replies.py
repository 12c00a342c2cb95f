"""Replies per second through Celery: 1, 8, 32 and 64 waiting jobs, and a burst beside a rival.

    python -m tests.benchmarks.celery_replies [--rounds 5] [--only waiting]

A real Redis, a real worker process with its child, an SQLite file. The bot is `seq2seq` of two LSTM
layers of 512, untrained (what it says does not change how long that takes): 20 tokens in, 20 out.
Time is from the commit of the messages until the last reply is shown. Beside it, in turn, the same
bot is called in a bare loop at the same batch, in a process as nice as a worker's child. Asked: 32
waiting at least 4 times one by one and at least 0.8 of the bare loop; a burst at least 5 times as
fast as with celery-batches. Long because the three ways share what they are measured with.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any
from uuid import uuid4

from tests.live import ROOT
from tests.servers import redis_server

Send = Callable[[list[int]], None]
COUNTS = (1, 8, 32, 64)
WORDS = [
    "do",
    "you",
    "like",
    "walk",
    "by",
    "river",
    "with",
    "dog",
    "on",
    "day",
]  # and a comma after each: 20 tokens
BOT = "seq2seq"
WORKER = ["-A", "webapp", "worker", "-Q", f"bot.{BOT}", "-P", "solo"]
RIVALS = {
    "celery-batches, -P solo": ["-P", "solo"],
    "celery-batches, -P threads": ["-P", "threads", "-c", "1"],
}


def train(folder: Path, hidden: int, layers: int) -> dict[str, Any]:
    """Make weights of the size asked for, and return the system's options."""
    from bots import Dialogue, Utterance, make_bot

    speakers = ("partner", "self")
    lines = [random.Random(place).sample(WORDS, len(WORDS)) for place in range(60)]
    turns = tuple(
        Utterance("self" if speakers[place % 2] == "self" else "partner", ", ".join(line) + ",")
        for place, line in enumerate(lines)
    )
    size = {"hidden": hidden, "layers": layers, "dimension": hidden, "dropout": 0.0}
    reading = {"messages": 1, "tokens": 20, "persona": False, "words": 0, "least_count": 1}
    bot: Any = make_bot(BOT, **size, **reading, attention="none", epochs=0)
    bot.train([Dialogue(str(place), turns) for place in range(20)], seed=1)
    bot.save(folder)
    return {"weights": str(folder), "method": "greedy", "number": 1, "max_tokens": 20}


class Jobs:
    """People who wait for the bot, and how long the replies to all take."""

    def __init__(self, options: dict[str, Any]) -> None:
        from tests import live
        from webapp.models import Participation

        live._seed(bot=BOT, options=options, people=max(COUNTS))
        self.people = list(Participation.objects.values_list("pk", flat=True))
        self.turn = random.Random(1)

    def say(self, people: Sequence[int]) -> tuple[float, list[int]]:
        """Say something for each; return when it was committed, and the new jobs."""
        from django.db import transaction
        from django.utils import timezone

        from webapp.models import ReplyJob
        from webapp.services import saying

        committed: list[float] = []
        text = ", ".join(self.turn.sample(WORDS, len(WORDS))) + ","
        before = ReplyJob.objects.order_by("-pk").values_list("pk", flat=True).first() or 0
        with transaction.atomic():
            transaction.on_commit(lambda: committed.append(time.perf_counter()))
            said = [saying.Saying(person, uuid4(), text) for person in people]
            saying.say_all(said, now=timezone.now())
        new = list(ReplyJob.objects.filter(pk__gt=before).values_list("pk", flat=True))
        assert len(new) == len(people), "a message was refused"
        return committed[0], new

    def wait(self) -> float:
        """Return when all was answered."""
        from webapp.models import ReplyJob

        end = time.perf_counter() + 300
        owed = ReplyJob.objects.exclude(state="DONE")
        while owed.exists():
            if time.perf_counter() > end:
                raise SystemExit(f"not answered: {list(owed.values_list('state', 'error')[:3])}")
            time.sleep(0.002)
        return time.perf_counter()

    def at_once(self, count: int, send: Send) -> float:
        """Return the seconds that `count` waiting jobs take."""
        committed, new = self.say(self.people[:count])
        send(new)
        return self.wait() - committed

    def burst(self, seconds: float, send: Send) -> float:
        """Let all send within so many seconds, each on their own; return how long it takes."""
        chance = random.Random(2)
        started = time.perf_counter()
        moments = sorted(chance.uniform(0, seconds) for _ in self.people)
        for moment, person in zip(moments, self.people, strict=True):
            time.sleep(max(0.0, started + moment - time.perf_counter()))
            _, new = self.say([person])
            send(new)
        return self.wait() - started

    def batch(self) -> float:
        """Return the mean size of the latest batches, each counted once."""
        from webapp.models import ReplyJob

        latest = ReplyJob.objects.order_by("-pk").values_list("details__batch", flat=True)
        sizes = list(latest[: len(self.people)])
        return float(len(sizes) / sum(1 / size for size in sizes))


@contextmanager
def worker(arguments: Sequence[str]) -> Iterator[int]:
    """Run a Celery worker; its process id is that of the tree that answers."""
    quiet = ["--without-gossip", "--without-mingle", "--without-heartbeat", "-l", "error"]
    command = [sys.executable, "-m", "celery", *arguments, *quiet]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL)
    try:
        yield process.pid
    finally:
        process.kill()
        process.wait()


def computed(tree: int) -> float:
    """Return the seconds that a process and its children have computed."""
    found: dict[int, tuple[int, float]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            fields = stat.read_text().rpartition(")")[2].split()
            ticks = int(fields[11]) + int(fields[12])
            found[int(stat.parent.name)] = (int(fields[1]), ticks / os.sysconf("SC_CLK_TCK"))
    children = [pid for pid, (parent, _) in found.items() if parent == tree]
    return sum(found[pid][1] for pid in (tree, *children) if pid in found)


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
    for line in sys.stdin:
        turns = [((), (Utterance("partner", ", ".join(WORDS) + ","),))] * int(line)
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
    print(f"{'waiting':>8} {'Celery/s':>9} {'bare/s':>9} {'of bare':>8} {'gain':>6} {'by CPU':>8}")
    first = 0.0
    for count in COUNTS:
        ours, alone, cpu, cpu_alone = [], [], [], []
        for _ in range(rounds):
            before = computed(tree)
            ours.append(jobs.at_once(count, lambda new: None))
            cpu.append(computed(tree) - before)
            took, used = loop.seconds(count)
            alone.append(took)
            cpu_alone.append(used)
        rate, most = (count / statistics.median(times) for times in (ours, alone))
        first = first or rate
        share, gain = rate / most, rate / first
        work = statistics.median(cpu_alone) / statistics.median(cpu)
        row = f"{count:8} {rate:9.1f} {most:9.1f} {share:8.2f} {gain:5.1f}x {work:8.2f}"
        print(row, flush=True)
    loop.close()


def bursts(jobs: Jobs, rounds: int) -> None:
    """Print how long a burst takes with our worker and with those of celery-batches."""
    from tests.benchmarks import batches_rival

    def to_rival(new: list[int]) -> None:
        for pk in new:
            batches_rival.app.send_task("rival.reply", [pk], queue="rival")

    def to_parley(new: list[int]) -> None:
        """Do nothing: its hint went out with the commit."""

    module = ["-A", "tests.benchmarks.batches_rival", "worker", "-Q", "rival"]
    ways: dict[str, tuple[list[str], Send]] = {"Parley": (WORKER, to_parley)}
    ways |= {name: ([*module, *pool], to_rival) for name, pool in RIVALS.items()}
    print(f"{'64 jobs':28} {'at once':>9} {'batch':>6} {'in 1 s':>9} {'batch':>6}   replies/s")
    for name, (arguments, send) in ways.items():
        with worker(arguments):
            jobs.at_once(1, send)  # the bot is loaded
            at_once = measured(jobs, rounds, partial(jobs.at_once, 64, send))
            spread = measured(jobs, rounds, partial(jobs.burst, 1.0, send))
        rates = "{:9.1f} {:6.1f} {:9.1f} {:6.1f}".format(*at_once, *spread)
        print(f"{name:28} {rates}", flush=True)


def measured(jobs: Jobs, rounds: int, run: Callable[[], float]) -> tuple[float, float]:
    """Return the medians of replies/s and of the size of a batch."""
    times, sizes = [], []
    for _ in range(rounds):
        times.append(run())
        sizes.append(jobs.batch())
    return 64 / statistics.median(times), statistics.median(sizes)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--hidden", type=int, default=512)
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--only", choices=("waiting", "bursts"))
    parser.add_argument("--bare", help=argparse.SUPPRESS)
    given: Any = parser.parse_args()
    if given.bare:
        bare(json.loads(given.bare))
        return
    with tempfile.TemporaryDirectory() as folder, redis_server() as url:
        os.environ.update(
            DEBUG="1",
            DATA_DIR=folder,
            REDIS_URL=url,
            OMP_NUM_THREADS="1",
            DJANGO_SETTINGS_MODULE="webapp.settings",
        )
        os.environ.pop("DATABASE_URL", None)
        import django

        django.setup()
        options = train(Path(folder) / "size", given.hidden, given.layers)
        jobs = Jobs(options)
        if given.only != "bursts":
            with worker(WORKER) as tree:
                jobs.at_once(1, lambda new: None)  # the bot is loaded
                waiting(jobs, options, given.rounds, tree)
        if given.only != "waiting":
            bursts(jobs, given.rounds)


if __name__ == "__main__":
    main()
