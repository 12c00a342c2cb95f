"""Three kinds of bots behind a real broker, two workers on their queues, and what kills do to them.

    python -m tests.trust.serving FOLDER

Needs DATABASE_URL and REDIS_URL of servers that nobody else uses. Prints JSON: a list per round.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.live import ROOT

BOTS = ("seq2seq", "chat_server", "callable")
PEOPLE = 4  # at each bot
SLOW = 1.5  # seconds of the chat server's answers, and of the function's
PATIENCE = 90.0


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


def start(folder: Path, number: int) -> subprocess.Popen[bytes]:
    """Start a worker for all three bots, which tells a log of its tasks."""
    queues = ",".join(f"bot.{bot}" for bot in BOTS)
    command = [sys.executable, "-m", "celery", "-A", "webapp", "worker", "-Q", queues]
    options = ["-P", "threads", "-c", "16", "-n", f"replies{number}@here", "-l", "info"]
    options += ["--without-gossip", "--without-mingle"]
    with (folder / f"worker{number}.log").open("ab") as log:
        return subprocess.Popen([*command, *options], cwd=ROOT, env=os.environ, stderr=log)


class Round:
    """Everybody writes once; what came of it."""

    def __init__(self) -> None:
        from tests.benchmarks.waiting_systems import send_all
        from webapp.models import Participation, ReplyJob

        last = ReplyJob.objects.order_by("-pk").values_list("pk", flat=True).first() or 0
        send_all(list(Participation.objects.values_list("pk", flat=True)))
        self.jobs = ReplyJob.objects.filter(pk__gt=last).order_by("pk")

    def wait(self, done: int, state: str = "DONE") -> float:
        """Return the seconds until so many jobs are in a state."""
        started = time.monotonic()
        while self.jobs.filter(state=state).count() < done:
            if time.monotonic() > started + PATIENCE:
                raise SystemExit(f"in vain: {list(self.jobs.values_list('bot', 'state', 'error'))}")
            time.sleep(0.02)
        return time.monotonic() - started

    def found(self, seconds: float) -> dict[str, Any]:
        """Return the seconds, each bot's times and batches, and how many replies each got."""
        from webapp.models import Event, ReplyCall

        events = Event.objects.filter(side=1, kind="message")
        replies = Counter(events.values_list("conversation", "content__in_reply_to"))
        shown = ReplyCall.objects.filter(job__in=self.jobs, outcome="SHOWN")
        times: dict[str, list[float]] = {bot: [] for bot in BOTS}
        batches: dict[str, list[int]] = {bot: [] for bot in BOTS}
        for job in self.jobs:
            assert job.answered_at is not None
            times[job.bot].append((job.answered_at - job.queued_at).total_seconds())
            batches[job.bot].append(job.details["batch"])
        return {
            "seconds": seconds,
            "times": times,
            "batches": batches,
            "shown": sorted(Counter(shown.values_list("job", flat=True)).values()),
            "replies": len(replies) and sum(replies.values()),
        }


def seed(folder: Path, url: str) -> None:
    """Make a campaign for each bot."""
    from tests import live
    from tests.benchmarks.reply_jobs import train

    options: dict[str, dict[str, Any]] = {
        "seq2seq": train(folder / "weights", hidden=16, layers=1),
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

    with model_server() as url, workers(folder) as running:
        django.setup()
        seed(folder, url)
        print(json.dumps(rounds(folder, running)))


def rounds(folder: Path, running: list[subprocess.Popen[bytes]]) -> dict[str, Any]:
    """Play all rounds on one installation."""
    everybody = PEOPLE * len(BOTS)
    found: dict[str, Any] = {}
    running += [start(folder, 1), start(folder, 2)]
    first = Round()
    first.wait(everybody)  # all is loaded
    calm = Round()
    found["calm"] = calm.found(calm.wait(everybody))

    one = Round()
    one.wait(PEOPLE, "CLAIMED")
    running.pop(0).kill()
    found["one killed"] = one.found(one.wait(everybody))

    both = Round()
    both.wait(PEOPLE, "CLAIMED")
    last = running.pop()
    last.kill()
    last.wait()
    running.append(start(folder, 3))
    found["all killed"] = both.found(both.wait(everybody))

    ended = Round()
    ended.wait(PEOPLE, "CLAIMED")
    running[0].send_signal(signal.SIGTERM)
    status = running.pop().wait(timeout=PATIENCE)
    left = ended.jobs.exclude(state="DONE")
    found["ended"] = {
        "status": status,
        "left": sorted(set(left.values_list("state", flat=True))),
        "done": ended.jobs.filter(state="DONE").count(),
    }
    return found


if __name__ == "__main__":
    main(Path(sys.argv[1]))
