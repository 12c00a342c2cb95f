"""People who wait for a bot's replies, and the workers that give them: what benchmarks share.

A real Redis, real worker processes with their children, an SQLite file. Unless a benchmark brings
another, the bot is `seq2seq` of two LSTM layers of 512, untrained (what it says does not change how
long that takes): 20 tokens in, 20 out.
"""

from __future__ import annotations

import heapq
import os
import random
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
BOT = "seq2seq"
PEOPLE = 64
WORKER = ("-A", "webapp", "worker", "-Q", f"bot.{BOT}", "-P", "solo")
QUIET = ("--without-gossip", "--without-mingle", "--without-heartbeat", "-l", "error")
WORDS = ("do", "you", "like", "walk", "by", "river", "with", "dog", "on", "day")
PATIENCE = 300.0  # seconds without a reply
_running: list[subprocess.Popen[bytes]] = []


def text(chance: random.Random) -> str:
    """Return a message of 20 tokens: a comma after each word."""
    return ", ".join(chance.sample(WORDS, len(WORDS))) + ","


def train(folder: Path, hidden: int = 512, layers: int = 2) -> dict[str, Any]:
    """Make weights of the size asked for, and return the system's options."""
    from bots import Dialogue, Utterance, make_bot

    turns = tuple(
        Utterance("self" if place % 2 else "partner", text(random.Random(place)))
        for place in range(60)
    )
    size = {"hidden": hidden, "layers": layers, "dimension": hidden, "dropout": 0.0}
    reading = {"messages": 1, "tokens": 20, "persona": False, "words": 0, "least_count": 1}
    bot: Any = make_bot(BOT, **size, **reading, attention="none", epochs=0)
    bot.train([Dialogue(str(place), turns) for place in range(20)], seed=1)
    bot.save(folder)
    return {"weights": str(folder), "method": "greedy", "number": 1, "max_tokens": 20}


@contextmanager
def study(hidden: int = 512, layers: int = 2) -> Iterator[tuple[Jobs, dict[str, Any]]]:
    """Give a database, a broker, an untrained `seq2seq`, and people who chat with it."""
    with study_with(BOT, partial(train, hidden=hidden, layers=layers)) as found:
        yield found


@contextmanager
def study_with(
    bot: str, make: Callable[[Path], dict[str, Any]]
) -> Iterator[tuple[Jobs, dict[str, Any]]]:
    """Give a database, a broker, a bot whose weights are made in a folder, and its people."""
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
        options = make(Path(folder) / "weights")
        yield Jobs(options, bot), options


class Jobs:
    """People who wait for the bot, and how long the replies to all take."""

    def __init__(self, options: dict[str, Any], bot: str = BOT) -> None:
        from tests import live
        from webapp.models import Participation

        live._seed(bot=bot, options=options, people=PEOPLE)
        self.people = list(Participation.objects.order_by("pk").values_list("pk", flat=True))
        self.chance = random.Random(1)

    def send_message(self, people: Sequence[int]) -> tuple[float, list[int]]:
        """Say something for each; return when it was committed, and the new jobs in that order."""
        from django.db import transaction
        from django.utils import timezone

        from webapp.models import ReplyJob
        from webapp.services.conversation import messages

        committed: list[float] = []
        before = ReplyJob.objects.order_by("-pk").values_list("pk", flat=True).first() or 0
        said = [messages.OutgoingMessage(person, uuid4(), text(self.chance)) for person in people]
        with transaction.atomic():
            transaction.on_commit(lambda: committed.append(time.perf_counter()))
            messages.send_all(said, now=timezone.now())
        made = ReplyJob.objects.filter(pk__gt=before).order_by("pk")
        new = list(made.values_list("pk", flat=True))
        if len(new) != len(people):
            raise SystemExit("a message was refused")
        return committed[0], new

    def answered(self, owed: Sequence[int]) -> list[int]:
        """Return those that were answered and shown."""
        from webapp.models import ReplyJob

        done = ReplyJob.objects.filter(pk__in=owed, state="DONE")
        return list(done.values_list("pk", flat=True))

    def at_once(self, count: int, send: Send) -> float:
        """Return the seconds from the commit of so many jobs to the last of their replies."""
        committed, owed = self.send_message(self.people[:count])
        send(owed)
        while len(self.answered(owed)) < count:
            _look(committed)
            time.sleep(0.002)
        return time.perf_counter() - committed

    def rush(self, turns: int, pause: float, send: Send) -> float:
        """Let all say something so many times, within a pause of each reply; return the seconds."""
        chance = random.Random(2)
        left = dict.fromkeys(self.people, turns)
        started = heard = time.perf_counter()
        due = [(started + chance.uniform(0, pause), person) for person in self.people]
        heapq.heapify(due)
        owed: dict[int, int] = {}
        while due or owed:
            now = time.perf_counter()
            ready = []
            while due and due[0][0] <= now:
                ready.append(heapq.heappop(due)[1])
            if ready:
                _, new = self.send_message(ready)
                send(new)
                owed.update(zip(new, ready, strict=True))
            for job in self.answered(list(owed)):
                person, heard = owed.pop(job), time.perf_counter()
                left[person] -= 1
                if left[person]:
                    heapq.heappush(due, (heard + chance.uniform(0, pause), person))
            _look(heard)
            time.sleep(0.003)
        return time.perf_counter() - started

    def batch(self, count: int) -> float:
        """Return the mean size of the batches of the latest jobs, each batch counted once."""
        from webapp.models import ReplyJob

        latest = ReplyJob.objects.order_by("-pk").values_list("details__batch", flat=True)
        sizes = list(latest[:count])
        return float(len(sizes) / sum(1 / size for size in sizes))


def _look(since: float) -> None:
    """Stop where no reply will come."""
    if any(process.poll() is not None for process in _running):
        raise SystemExit("a worker ended")
    if time.perf_counter() > since + PATIENCE:
        from webapp.models import ReplyJob

        owed = ReplyJob.objects.exclude(state="DONE").values_list("state", "owner", "error")
        raise SystemExit(f"no reply in {PATIENCE:g} s; owed: {list(owed[:3])}")


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


@contextmanager
def worker(arguments: Sequence[str], **changes: str) -> Iterator[int]:
    """Run a Celery worker; its process id is that of the tree that answers."""
    process = subprocess.Popen(
        [sys.executable, "-m", "celery", *arguments, *QUIET],
        cwd=ROOT,
        env={**os.environ, "PYTHONWARNINGS": "ignore", **changes},
        stdout=subprocess.DEVNULL,
    )
    _running.append(process)
    try:
        yield process.pid
    finally:
        _running.remove(process)
        process.terminate()
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
