"""Four kinds of bots behind a real broker, two workers on their queues, and what kills do to them.

    python -m tests.trust.serving FOLDER

Needs DATABASE_URL of a server that nobody else uses; the broker is its own. Prints JSON: what came
of each round.
"""

from __future__ import annotations

import ast
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import redis

from tests.live import ROOT
from tests.servers import redis_server

BOTS = ("seq2seq", "checkpoint", "chat_server", "callable")
SLOW_BOTS = BOTS[2:]
PEOPLE = 4  # at each bot
EVERYBODY = PEOPLE * len(BOTS)
SLOW = 1.5  # seconds of the chat server's answers, and of the function's
PATIENCE = 90.0
LOADING = 150.0  # seconds until four processes have imported torch, two of them transformers


def deliberate(persona: Sequence[str], history: Sequence[object]) -> str:
    """Answer after a while, for the bot `callable`."""
    time.sleep(SLOW)
    return "I have thought."


@contextmanager
def workers(folder: Path) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Give a list of workers; those in it at the end are ended."""
    running: list[subprocess.Popen[bytes]] = []
    try:
        yield running
    finally:
        for worker in running:
            worker.kill()
            worker.wait()


def start(
    folder: Path, number: int, *, threads: int = 16, faults: str = ""
) -> subprocess.Popen[bytes]:
    """Start a worker for all four bots, which tells a log of its tasks."""
    queues = ",".join(f"bot.{bot}" for bot in BOTS)
    program = [sys.executable, "-m", "tests.trust.sabotage", faults, "celery"]
    command = [*program, "-A", "webapp", "worker", "-Q", queues, "-P", "threads"]
    options = ["-c", str(threads), "-n", f"replies{number}@here", "-l", "info"]
    options += ["--without-gossip", "--without-mingle"]
    with (folder / f"worker{number}.log").open("ab") as log:
        return subprocess.Popen(
            [*command, *options], cwd=ROOT, env=os.environ, stdout=log, stderr=log
        )


class Round:
    """Everybody at some bots writes once; what came of it."""

    def __init__(self, bots: Sequence[str] = BOTS) -> None:
        from tests.benchmarks.waiting_systems import send_all
        from webapp.models import Participation, ReplyJob

        last = ReplyJob.objects.order_by("-pk").values_list("pk", flat=True).first() or 0
        people = Participation.objects.filter(seats__conversation__system__bot__in=bots)
        send_all(list(people.values_list("pk", flat=True)))
        self.jobs = ReplyJob.objects.filter(pk__gt=last).order_by("pk")

    def wait(self, done: int, state: str = "DONE", patience: float = PATIENCE) -> float:
        """Return the seconds until so many jobs are in a state."""
        started = time.monotonic()
        while self.jobs.filter(state=state).count() < done:
            if time.monotonic() > started + patience:
                raise SystemExit(f"in vain: {list(self.jobs.values_list('bot', 'state', 'error'))}")
            time.sleep(0.02)
        return time.monotonic() - started

    def found(self, seconds: float) -> dict[str, Any]:
        """Return the seconds, each bot's times and batches, and how many replies each got."""
        from webapp.models import Event, ReplyCall

        events = Event.objects.filter(side=1, kind="message")
        replies = Counter(events.values_list("conversation", "content__in_reply_to"))
        shown = ReplyCall.objects.filter(job__in=self.jobs, outcome="SHOWN")
        took = dict(shown.values_list("job", "seconds"))
        times: dict[str, list[float]] = {bot: [] for bot in BOTS}
        calls: dict[str, list[tuple[float, float]]] = {bot: [] for bot in BOTS}
        batches: dict[str, list[int]] = {bot: [] for bot in BOTS}
        for job in self.jobs:
            assert job.answered_at is not None
            times[job.bot].append((job.answered_at - job.queued_at).total_seconds())
            batches[job.bot].append(job.details["batch"])
            ended = job.answered_at.timestamp()
            calls[job.bot].append((ended - took[job.pk], ended))
        return {
            "seconds": seconds,
            "times": times,
            "batches": batches,
            "calls": calls,
            "shown": sorted(Counter(shown.values_list("job", flat=True)).values()),
            "replies": len(replies) and sum(replies.values()),
        }


def seed(folder: Path, url: str) -> None:
    """Make a campaign for each bot."""
    from tests import live
    from tests.benchmarks.reply_jobs import train
    from tests.bots.outside import tiny_causal

    shutil.copytree(tiny_causal(), folder / "tiny")
    options: dict[str, dict[str, Any]] = {
        "seq2seq": train(folder / "weights", hidden=16, layers=1),
        "checkpoint": {"checkpoint": str(folder / "tiny"), "max_tokens": 8},
        "chat_server": {"url": url, "model": str(SLOW)},
        "callable": {"function": "tests.trust.serving.deliberate", "processes": PEOPLE},
    }
    for bot in BOTS:
        live._seed(bot=bot, options=options[bot], people=PEOPLE)


def main(folder: Path) -> None:
    from tests.benchmarks.waiting_systems import model_server

    os.environ.update(
        DEBUG="1",
        DATA_DIR=str(folder),
        DJANGO_SETTINGS_MODULE="webapp.settings",
        BOT_CALLABLES="tests.trust.serving.*",
        OMP_NUM_THREADS="1",
    )
    import django

    with model_server() as url, Broker() as broker, workers(folder) as running:
        django.setup()
        seed(folder, url)
        print(json.dumps(rounds(folder, running, broker)))


class Broker:
    """A Redis that is killed, and started again without its data on the same port."""

    def __init__(self) -> None:
        self.running = ExitStack()
        self.url = ""

    def __enter__(self) -> Broker:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.running.close()

    def start(self) -> None:
        self.url = self.running.enter_context(redis_server(urlsplit(self.url).port or 0))
        os.environ["REDIS_URL"] = self.url

    def kill(self) -> None:
        with redis.from_url(self.url) as known:
            os.kill(known.info("server")["process_id"], signal.SIGKILL)
        self.running.close()


class Seen(threading.Thread):
    """What Celery's events say of tasks, kept as Flower and `celery events` keep them."""

    def __init__(self) -> None:
        from webapp.celery import app

        super().__init__(name="events", daemon=True)
        self._app, self._state = app, app.events.State()

    def run(self) -> None:
        with self._app.connection_for_read() as connection:
            receiver = self._app.events.Receiver(connection, handlers={"*": self._state.event})
            receiver.capture(limit=None, timeout=None, wakeup=True)

    def wait_for_workers(self, count: int) -> None:
        self._wait(lambda: len(self._state.workers) == count, "workers' heartbeats")

    def tasks(self, jobs: Sequence[int]) -> list[dict[str, Any]]:
        """Return the tasks of these jobs once all are over."""
        self._wait(lambda: self._over() >= set(jobs), "ends of tasks")
        return [
            {
                "bot": ast.literal_eval(task.args)[0],
                "jobs": _jobs(task),
                "state": task.state,
                "route": task.routing_key,
                "worker": task.worker.hostname,
                "runtime": task.runtime,
            }
            for task in self._state.tasks.values()
            if {*_jobs(task)} & {*jobs}
        ]

    def _over(self) -> set[int]:
        tasks = list(self._state.tasks.values())
        return {job for task in tasks if task.state == "SUCCESS" for job in _jobs(task)}

    def _wait(self, condition: Callable[[], bool], what: str) -> None:
        started = time.monotonic()
        while not condition():
            if time.monotonic() > started + PATIENCE:
                raise SystemExit(f"in vain: {what} of {list(self._state.tasks.values())}")
            time.sleep(0.02)


def _jobs(task: Any) -> list[int]:
    """Return the jobs that a task's arguments name, as its events print them."""
    return list(ast.literal_eval(task.args)[1]) if task.args else []


def seconds_of_a_lost_hint() -> float:
    """Return how long a hint to a broker that is away takes."""
    from webapp import realtime

    before, started = realtime.lost["worker"], time.monotonic()
    realtime.call("nobody", 0, [0])
    deadline = started + PATIENCE
    while realtime.lost["worker"] == before and time.monotonic() < deadline:
        time.sleep(0.01)
    return time.monotonic() - started


def listens(worker: str) -> bool:
    """Tell whether a worker hears control commands."""
    from webapp.celery import app

    return bool(app.control.ping([worker], timeout=1))


def rounds(folder: Path, running: list[subprocess.Popen[bytes]], broker: Broker) -> dict[str, Any]:
    """Play all rounds on one installation."""
    running += [start(folder, 1), start(folder, 2)]
    first = Round()
    first.wait(EVERYBODY, patience=LOADING)
    seen = Seen()
    seen.start()
    seen.wait_for_workers(len(running))
    calm = Round()
    found: dict[str, Any] = {"calm": calm.found(calm.wait(EVERYBODY))}
    found["tasks"] = seen.tasks([job.pk for job in calm.jobs])
    one = Round()
    one.wait(PEOPLE, "CLAIMED")
    running.pop(0).kill()
    found["one killed"] = one.found(one.wait(EVERYBODY))
    return found | without_broker(folder, running, broker) | {"ended": ended(running)}


def without_broker(
    folder: Path, running: list[subprocess.Popen[bytes]], broker: Broker
) -> dict[str, Any]:
    """Kill the broker as replies are under way, and then the worker, which starts without it."""
    found: dict[str, Any] = {}
    one = Round()
    one.wait(PEOPLE, "CLAIMED")
    broker.kill()
    found["broker killed"] = one.found(one.wait(EVERYBODY))

    found["lost hint"] = seconds_of_a_lost_hint()
    all_killed = Round()
    all_killed.wait(PEOPLE, "CLAIMED")
    last = running.pop()
    last.kill()
    last.wait()
    running.append(start(folder, 3, threads=1, faults="patient_worker"))
    found["all killed"] = all_killed.found(all_killed.wait(EVERYBODY))

    broker.start()
    deadline = time.monotonic() + PATIENCE
    while not listens("replies3@here") and time.monotonic() < deadline:
        time.sleep(0.1)
    crowded = Round(SLOW_BOTS)
    found["one thread"] = crowded.found(crowded.wait(PEOPLE * len(SLOW_BOTS)))
    return found


def ended(running: list[subprocess.Popen[bytes]]) -> dict[str, Any]:
    """End the last worker as replies are under way."""
    last = Round()
    last.wait(PEOPLE, "CLAIMED")
    running[0].send_signal(signal.SIGTERM)
    status = running.pop().wait(timeout=PATIENCE)
    left = last.jobs.exclude(state="DONE")
    return {
        "status": status,
        "left": sorted(set(left.values_list("state", flat=True))),
        "done": last.jobs.filter(state="DONE").count(),
    }


if __name__ == "__main__":
    main(Path(sys.argv[1]))
