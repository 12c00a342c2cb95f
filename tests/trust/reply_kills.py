"""Kills of a reply worker, of the broker and of a bot's process, each in the midst of replies.

    python -m tests.trust.reply_kills [--times 20] [--only broker]

PostgreSQL, Redis and Celery workers of our own; a chat server and a function that need 1.5 s each.
In each round four people write, something is killed with -9 while their replies are under way, and
a supervisor starts it again. Prints, for each kind, how many replies are missing or there twice,
and the seconds from the kill to the last reply, in which the model needs its 1.5 s anew; of the
broker also for those who write while it is away. Exits 1 where a reply is missing or double.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.servers import postgresql
from tests.trust import serving

SLOW = serving.SLOW
AWAY = 3.0  # seconds that the broker is away
PEOPLE = 2  # at each system
PATIENCE = 90.0
MOST_WARMING = 20  # rounds
TORCH = "tests.trust.torch_function.deliberate"
Hit = Callable[[list[int]], None]


@dataclass
class Found:
    """The replies of all rounds of one kind."""

    seconds: list[float] = field(default_factory=list)
    owed: int = 0
    missing: int = 0
    double: int = 0

    def row(self, name: str) -> str:
        times = sorted(self.seconds)
        p50, p95 = (times[-(-len(times) * share // 100) - 1] for share in (50, 95))
        counted = f"{len(times):6}{self.owed:9}{self.missing:9}{self.double:8}"
        return f"{name:44}{counted}{p50:8.2f}{p95:7.2f}{times[-1]:7.2f}"


@dataclass
class Installation:
    """Workers, a broker, and the systems that the people of each round talk to."""

    folder: Path
    systems: Sequence[tuple[str, dict[str, Any]]]
    chance: random.Random
    broker: serving.Broker
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)
    started: int = 0

    def start_worker(self) -> None:
        self.started += 1
        self.workers.append(serving.start(self.folder, self.started))

    def end_worker(self, worker: subprocess.Popen[bytes]) -> None:
        self.workers.remove(worker)
        worker.kill()
        worker.wait()

    def end(self) -> None:
        for worker in list(self.workers):
            self.end_worker(worker)

    def write(self) -> list[int]:
        """Let new people write to each system; return the jobs."""
        from tests import live
        from tests.benchmarks.waiting_systems import send_all
        from webapp.models import Participation, ReplyJob

        last = Participation.objects.order_by("-pk").values_list("pk", flat=True).first() or 0
        for bot, options in self.systems:
            live._seed(bot=bot, options=options, people=PEOPLE)
        people = list(Participation.objects.filter(pk__gt=last).values_list("pk", flat=True))
        send_all(people)
        jobs = ReplyJob.objects.filter(conversation__seats__participation__in=people)
        return list(jobs.values_list("pk", flat=True))

    def pause(self) -> None:
        """Let some of the time pass that a model needs: kills come at any moment of it."""
        time.sleep(self.chance.uniform(0, SLOW / 2))

    def holder(self, job: int) -> subprocess.Popen[bytes]:
        """Return the worker that holds a job."""
        from webapp.models import ReplyJob

        owner = ReplyJob.objects.values_list("owner", flat=True).get(pk=job)
        return next(worker for worker in self.workers if worker.pid == _pid(owner))

    def wait_for_forks(self) -> None:
        """Kill functions until their processes are forked: what they import is ready then."""
        for _ in range(MOST_WARMING):
            kill_children(self, Found())
            if all(any(map(children, children(worker.pid))) for worker in self.workers):
                return
        raise SystemExit("in vain: processes that are forked")

    def all_work(self) -> bool:
        """Tell whether each worker has given a sign of life, and has loaded its bots."""
        from webapp.models import Heartbeat

        beats = {_pid(each.name): each for each in Heartbeat.objects.filter(kind="replies")}
        found = [beats.get(worker.pid) for worker in self.workers]
        return all(each is not None and not each.detail["warming"] for each in found)


def _pid(owner: str) -> int:
    """Return the process of a reply worker's name."""
    return int(owner.split(":")[2].partition(".")[0])


def wait_for(condition: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > deadline:
            raise SystemExit(f"in vain: {what}")
        time.sleep(0.01)


def children(pid: int) -> list[int]:
    found = subprocess.run(
        ["pgrep", "-P", str(pid)], capture_output=True, text=True, check=False
    ).stdout
    return [int(child) for child in found.split()]


def descendants(pid: int) -> list[int]:
    return [each for child in children(pid) for each in (child, *descendants(child))]


def is_nursery(pid: int) -> bool:
    """Tell whether a worker's child is what new processes are forked from: it runs no bot."""
    return b"torch" in Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")


def runs(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


def states(jobs: Sequence[int]) -> set[str]:
    from webapp.models import ReplyJob

    return set(ReplyJob.objects.filter(pk__in=jobs).values_list("state", flat=True))


def play(place: Installation, found: Found, hit: Hit, *, mid_reply: bool = True) -> None:
    """Let people write, hit while their replies are under way, and note when the last came."""
    from webapp.models import Event, ReplyJob

    jobs = place.write()
    if mid_reply:
        wait_for(lambda: states(jobs) == {"CLAIMED"}, f"claims: {states(jobs)}")
        place.pause()
    at = time.time()
    hit(jobs)
    wait_for(lambda: not states(jobs) & {"QUEUED", "CLAIMED"}, f"replies: {states(jobs)}")
    rows = list(ReplyJob.objects.filter(pk__in=jobs, state="DONE"))
    answered = [job.answered_at.timestamp() for job in rows if job.answered_at]
    shown = Event.objects.filter(
        conversation__in=[job.conversation_id for job in rows], side=1, kind="message"
    ).count()
    found.seconds += [max(answered, default=time.time()) - at]
    found.owed += len(jobs)
    found.missing += len(jobs) - len(rows)
    found.double += shown - len(rows)


def kill_a_worker(place: Installation, found: Found) -> None:
    """Kill the worker that holds a reply; the supervisor starts another one."""

    def hit(jobs: list[int]) -> None:
        victim = place.holder(jobs[0])
        left = descendants(victim.pid)
        place.end_worker(victim)
        place.start_worker()
        wait_for(lambda: not any(map(runs, left)), "the end of a dead worker's processes")

    play(place, found, hit)
    wait_for(place.all_work, "workers")


def kill_children(place: Installation, found: Found) -> None:
    """Kill the processes in which functions run."""

    def hit(jobs: list[int]) -> None:
        for worker in place.workers:
            for child in children(worker.pid):
                for victim in children(child) if is_nursery(child) else [child]:
                    os.kill(victim, signal.SIGKILL)

    play(place, found, hit)


def kill_the_broker(place: Installation, found: Found, meanwhile: Found) -> None:
    """Kill the broker, let others write while it is away, and start it again without its data."""

    def hit(jobs: list[int]) -> None:
        place.broker.kill()
        began = time.monotonic()
        play(place, meanwhile, lambda _: None, mid_reply=False)
        time.sleep(max(0.0, began + AWAY - time.monotonic()))
        place.broker.start()

    play(place, found, hit)


KINDS = {
    "one of two workers": kill_a_worker,
    "the only worker": kill_a_worker,
    "the processes of a function": kill_children,
    "the processes of a function with torch": kill_children,
}


def rows(place: Installation, times: int, only: str) -> Iterator[tuple[str, Found]]:
    """Play all kinds of kills; yields what came of each."""
    place.start_worker()
    place.start_worker()
    wait_for(place.all_work, "workers")
    play(place, Found(), lambda _: None)  # all is loaded
    if only in "the broker":
        found, meanwhile = Found(), Found()
        for _ in range(times):
            kill_the_broker(place, found, meanwhile)
        yield "the broker, as replies are under way", found
        yield "... as people write without it", meanwhile
    for name, kill in KINDS.items():
        if name == "the only worker":
            place.end_worker(place.workers[0])
        if only not in name:
            continue
        if "torch" in name:
            place.systems = [("callable", {"function": TORCH, "processes": PEOPLE})]
            place.wait_for_forks()
        found = Found()
        for _ in range(times):
            kill(place, found)
        yield name, found


@contextmanager
def installation() -> Iterator[Installation]:
    from tests.benchmarks.waiting_systems import model_server

    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        url = stack.enter_context(model_server())
        os.environ.update(
            DEBUG="1",
            DATA_DIR=str(folder),
            DATABASE_URL=stack.enter_context(postgresql()),
            DJANGO_SETTINGS_MODULE="webapp.settings",
            BOT_CALLABLES="tests.trust.serving.*,tests.trust.torch_function.*",
            OMP_NUM_THREADS="1",
            LOG_LEVEL="CRITICAL",  # lost hints are not what is looked for
        )
        function = {"function": "tests.trust.serving.deliberate", "processes": PEOPLE}
        systems: list[tuple[str, dict[str, Any]]] = [
            ("chat_server", {"url": url, "model": str(SLOW)}),
            ("callable", function),
        ]
        broker = stack.enter_context(serving.Broker())
        place = Installation(folder, systems, random.Random(1), broker)
        stack.callback(place.end)
        import django

        django.setup()
        from tests.databases import migrate

        migrate()
        yield place


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--only", default="", help="part of a kind's name")
    given: Any = parser.parse_args()
    harm = 0
    head = f"{'times':>6}{'replies':>9}{'missing':>9}{'double':>8}{'p50':>8}{'p95':>7}{'most':>7}"
    print(f"{'killed':44}{head}")
    with installation() as place:
        for name, found in rows(place, given.times, given.only):
            print(found.row(name), flush=True)
            harm += found.missing + found.double
    return 1 if harm else 0


if __name__ == "__main__":
    raise SystemExit(main())
