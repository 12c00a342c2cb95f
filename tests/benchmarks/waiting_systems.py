"""Seconds until a reply on systems of different speed, side by side: nobody waits for another's.

    python -m tests.benchmarks.waiting_systems [--people 48] [--celery 2] [--functions] [--over 20]

A third of the people talk to each of three models of a chat server, which need 0.05, 3 and 10 s;
with `--functions` eight people at a Python function of 2 s in 8 processes, and one at another
function at once. Each model is in a campaign of its own. Time is from the commit of the messages
until the reply is stored, by the clock of the database. All of a system write at the same moment,
or, with `--over`, one after the other over so many seconds. Asked: p95 within 10 % of the model's
own. `call` is p95 of the calls alone, as Parley recorded them; `own` that of the model by the
server's own clock, from a request that it has read to an answer that it has written; `path` all
 else: how much longer the median reply takes than the median of the model's own times.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.request import urlopen
from uuid import uuid4

from tests.benchmarks.reply_jobs import worker
from tests.servers import postgresql, redis_server

MODELS = (0.05, 3.0, 10.0)  # seconds
PATIENCE = 120.0
Made = Sequence[tuple[str, str, dict[str, Any], int]]  # name, bot, options, people
OWN: dict[str, list[float]] = {}  # seconds that each model took, by the clock of the server


class _Model(BaseHTTPRequestHandler):
    """A chat server whose model is called by the seconds that it needs."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        begun = time.perf_counter()
        time.sleep(float(asked["model"]))
        body = json.dumps({"choices": [{"message": {"content": "I see."}}]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        OWN.setdefault(f"{float(asked['model']):g} s", []).append(time.perf_counter() - begun)

    def do_GET(self) -> None:
        body = json.dumps(OWN).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


class _Server(ThreadingHTTPServer):
    request_queue_size = 256
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing of workers that were killed."""


def serve() -> None:
    """Serve the models until the input ends; prints the port."""
    server = _Server(("127.0.0.1", 0), _Model)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.server_address[1], flush=True)
    sys.stdin.read()


@contextmanager
def model_server() -> Iterator[str]:
    """Serve the models in a process of their own; yields their address."""
    command = [sys.executable, "-m", "tests.benchmarks.waiting_systems", "--serve"]
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, text=True, **pipes) as server:
        assert server.stdout is not None
        host = f"127.0.0.1:{server.stdout.readline().strip()}"
        os.environ["BOT_PRIVATE_HOSTS"] = host
        try:
            yield f"http://{host}/v1"
        finally:
            server.communicate()


def own_times(url: str) -> dict[str, list[float]]:
    with urlopen(url) as answer:  # noqa: S310 (our own server)
        found: dict[str, list[float]] = json.load(answer)
    return found


def hello(persona: Sequence[str], history: Sequence[object]) -> str:
    """Answer at once."""
    return "Hello."


def slow(persona: Sequence[str], history: Sequence[object]) -> str:
    """Answer after 2 s."""
    time.sleep(2)
    return "Hello, at last."


def systems(url: str, people: int, functions: bool) -> list[tuple[str, str, dict[str, Any], int]]:
    """Return name, bot, options and number of people of each system."""
    if functions:
        here, several = "tests.benchmarks.waiting_systems", {"processes": 8}
        return [
            ("at once", "callable", {"function": f"{here}.hello"}, 1),
            ("2 s", "callable", {"function": f"{here}.slow", **several}, 8),
        ]
    size = people // len(MODELS)
    chat = {"url": url, "at_once": 64}
    return [(f"{one:g} s", "chat_server", {**chat, "model": str(one)}, size) for one in MODELS]


def send_all(people: Sequence[int], text: str = "Hello there.") -> None:
    from django.utils import timezone

    from webapp.services.conversation import messages

    said = [messages.OutgoingMessage(person, uuid4(), text) for person in people]
    messages.send_all(said, now=timezone.now())


def write(groups: Sequence[Sequence[int]], over: float) -> None:
    """Let everybody write, the slowest system's people first."""
    if not over:
        for group in reversed(groups):  # then those who must not wait for it
            send_all(group)
            time.sleep(0.5)
        return
    due = [
        (over * place / len(group), person)
        for group in reversed(groups)
        for place, person in enumerate(group)
    ]
    started = time.monotonic()
    for at, person in sorted(due, key=lambda pair: pair[0]):
        time.sleep(max(0.0, started + at - time.monotonic()))
        send_all([person])


def p95(times: Sequence[float]) -> float:
    return sorted(times)[max(0, -(-95 * len(times) // 100) - 1)]


def measure(made: Made, over: float, url: str) -> None:
    """Let all write once while everything is loaded, then once more; print the second time's."""
    from tests import live
    from webapp.models import Participation

    for _, bot, options, people in made:
        live._seed(bot=bot, options=options, people=people)
    everybody = list(Participation.objects.order_by("pk").values_list("pk", flat=True))
    groups, rest = [], everybody
    for *_, people in made:
        groups.append(rest[:people])
        rest = rest[people:]
    write(groups, 0.0)
    wait_for_replies()
    time.sleep(3)
    write(groups, over)
    wait_for_replies()
    show(made, own_times(url))


def wait_for_replies() -> None:
    from webapp.models import ReplyJob

    started = time.monotonic()
    while ReplyJob.objects.exclude(state__in=("DONE", "FAILED")).exists():
        if time.monotonic() > started + PATIENCE:
            raise SystemExit("no reply in time")
        time.sleep(0.05)


def show(made: Made, every: Mapping[str, list[float]]) -> None:
    """Print a row of each system; `every` are the times of each model by its own clock."""
    from webapp.models import Conversation, ReplyCall, ReplyJob

    head = f"{'model':>8} {'people':>7} {'p50':>7} {'p95':>7} {'most':>7} {'failed':>7}"
    print(f"{head} {'call':>7} {'own':>7} {'path':>7}")
    campaigns = list(Conversation.objects.order_by("pk").values_list("campaign", flat=True))
    for (name, *_, people), campaign in zip(made, dict.fromkeys(campaigns), strict=True):
        jobs = ReplyJob.objects.filter(conversation__campaign=campaign).order_by("-pk")[:people]
        times = sorted(
            (job.answered_at - job.queued_at).total_seconds() for job in jobs if job.answered_at
        )
        failed = sum(job.state == "FAILED" for job in jobs)
        calls = list(ReplyCall.objects.filter(job__in=list(jobs)).values_list("seconds", flat=True))
        if not times:
            print(f"{name:>8} {people:7} {failed:31}")
            continue
        middle = times[len(times) // 2]
        own = every.get(name, calls)[-people:]  # functions have no server
        path = middle - sorted(own)[len(own) // 2]
        found = f"{middle:7.3f} {p95(times):7.3f} {times[-1]:7.3f} {failed:7}"
        print(f"{name:>8} {people:7} {found} {p95(calls):7.3f} {p95(own):7.3f} {path:7.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", type=int, default=48)
    parser.add_argument("--celery", type=int, default=0, help="workers; 0: embedded")
    parser.add_argument("--functions", action="store_true")
    parser.add_argument("--over", type=float, default=0.0, help="seconds in which people write")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.serve:
        serve()
    else:
        run(given)


def run(given: argparse.Namespace) -> None:
    with ExitStack() as stack:
        url = stack.enter_context(model_server())
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        os.environ.update(
            DEBUG="1",
            DATA_DIR=folder,
            DJANGO_SETTINGS_MODULE="webapp.settings",
            BOT_CALLABLES="tests.benchmarks.waiting_systems.*",
        )
        os.environ.pop("DATABASE_URL", None)
        if given.celery:
            os.environ["REDIS_URL"] = stack.enter_context(redis_server())
            os.environ["DATABASE_URL"] = stack.enter_context(postgresql())
        import django

        django.setup()
        from tests.databases import migrate

        migrate()
        for number in range(given.celery):
            queues = "bot.chat_server,bot.callable"
            pool = os.environ.get("POOL", "threads")
            words = ("-A", "webapp", "worker", "-Q", queues, "-P", pool, "-c", "64")
            stack.enter_context(worker((*words, "-n", f"replies{number}")))
        if not given.celery:
            from webapp import workers

            host = workers.hosted_here()
            host.start()
            stack.callback(host.stop)
        measure(systems(url, given.people, given.functions), given.over, url)


if __name__ == "__main__":
    main()
