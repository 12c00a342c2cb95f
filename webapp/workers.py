"""Reply workers: which bots this process answers for, in threads that hints wake.

One thread a bot: what arrives while it answers is its next batch, and no bot waits for another.
Besides, one thread looks into the table at least every 2 s, so that lost hints cost no more than
that, shows answers whose time has come, and keeps the heartbeat (R11).
"""

from __future__ import annotations

import logging
import os
import socket
import threading
from collections import defaultdict
from collections.abc import Callable, Collection
from typing import Any

from celery.signals import worker_ready, worker_shutting_down
from django.conf import settings
from django.db import Error, close_old_connections, connection
from django.db.models.functions import Now

from webapp import inference, realtime
from webapp.celery import app
from webapp.models import Heartbeat
from webapp.services import delivery, replies, serving

log = logging.getLogger(__name__)
POLL = 2.0  # seconds
RETRY = 1.0  # seconds after database trouble
BEAT = 5.0  # seconds between heartbeats
PREFIX = "bot."  # of a bot's queue


class Host:
    """Answers what its bots owe; `bots` None means all of them."""

    def __init__(
        self,
        bots: Collection[str] | None = None,
        *,
        children: bool = False,
        on_lost: Callable[[], None] = lambda: None,
    ) -> None:
        self.name = f"{socket.gethostname()[:30]}:{os.getpid()}"
        self._bots = bots
        self._on_lost = on_lost
        self._use_children = children
        self._children: dict[str, inference.Child] = defaultdict(inference.Child)
        self._calls: dict[str, threading.Event] = {}
        self._turns: dict[str, threading.Lock] = defaultdict(threading.Lock)
        self._threads: list[threading.Thread] = []
        self._lock = threading.Lock()
        self._look = threading.Event()
        self._stopped = threading.Event()
        self._beat = threading.Event()

    def start(self) -> None:
        self._run("replies", self._poll)
        self._run("heartbeat", self._keep_beating)

    def stop(self) -> None:
        """End threads and children; what they were working on is for others, or for later."""
        self._stopped.set()
        self._look.set()
        self._beat.set()
        with self._lock:
            for call in self._calls.values():
                call.set()
            for child in self._children.values():
                child.close()
            threads = list(self._threads)
        for thread in threads:
            thread.join(timeout=5)

    def hosts(self, bot: str) -> bool:
        return self._bots is None or bot in self._bots

    def wake(self, bot: str) -> None:
        """Let the bot's thread look for jobs."""
        if not self.hosts(bot) or self._stopped.is_set():
            return
        with self._lock:
            call = self._calls.get(bot)
            if call is None:
                call = self._calls[bot] = threading.Event()
                self._start(f"bot {bot}", lambda: self._answer(bot, call))
        call.set()

    def serve(self, bot: str) -> int:
        """Answer all that a bot owes; returns how many jobs were claimed."""
        total = 0
        with self._turns[bot]:
            while not self._stopped.is_set():
                count = serving.serve(bot=bot, owner=self.name, respond=self._respond(bot))
                if not count:
                    break
                total += count
        if total:
            self._look.set()  # answers may be due soon
        return total

    def _respond(self, bot: str) -> inference.Respond:
        if not (self._use_children and inference.is_trained(bot)):
            return inference.respond_here
        with self._lock:
            return self._children[bot].respond

    def _answer(self, bot: str, call: threading.Event) -> None:
        while not self._stopped.is_set():
            call.wait()
            call.clear()
            try:
                self.serve(bot)
            except inference.WorkerLost as lost:
                log.error("%s: %s", bot, lost)
                self._on_lost()

    def _poll(self) -> None:
        while not self._stopped.is_set():
            self._look.clear()
            delivery.deliver_due()
            for bot in replies.waiting_bots():
                self.wake(bot)
            due = delivery.seconds_to_next()
            self._look.wait(POLL if due is None else min(POLL, due + 0.005))

    def _keep_beating(self) -> None:
        while not self._stopped.is_set():
            bots = sorted(self._bots) if self._bots is not None else ["*"]
            Heartbeat.objects.update_or_create(
                name=self.name, defaults={"kind": "replies", "bots": bots, "seen_at": Now()}
            )
            self._beat.wait(BEAT)

    def _run(self, name: str, work: Callable[[], None]) -> None:
        with self._lock:
            self._start(name, work)

    def _start(self, name: str, work: Callable[[], None]) -> None:
        thread = threading.Thread(target=self._guarded, args=(work,), name=name, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _guarded(self, work: Callable[[], None]) -> None:
        """Begin again after trouble: of the database, or of our own making."""
        while not self._stopped.is_set():
            try:
                work()
            except Error as problem:
                log.warning("database trouble: %s", type(problem).__name__)
                connection.close()
            except Exception:  # a reply worker must not end silently
                log.exception("a reply worker's thread failed")
            if not self._stopped.wait(RETRY):
                close_old_connections()
        connection.close()


# --- as a Celery worker, where there are several processes


_host: list[Host] = []


@app.task(name="answer")
def answer(bot: str) -> None:
    """Answer what a bot owes; that another task did it already is no harm."""
    try:
        _host[0].serve(bot)
    except inference.WorkerLost:
        _leave()


def _leave() -> None:
    """End at once: a process whose device failed is not to be trusted. Its jobs are put back."""
    log.error("leaving: the device of this worker failed")
    os._exit(70)


@worker_ready.connect
def _start_hosting(sender: Any, **_: object) -> None:
    queues = sender.app.amqp.queues.consume_from
    bots = [queue.removeprefix(PREFIX) for queue in queues if queue.startswith(PREFIX)]
    if type(sender.pool).__module__.endswith("prefork"):
        raise SystemExit("use -P solo: models must not be loaded before a fork")
    if not bots:
        raise SystemExit("say which bots this worker answers for, such as -Q bot.profile_memory")
    _host.append(Host(bots, on_lost=_leave))
    _host[0].start()


@worker_shutting_down.connect
def _stop_hosting(**_: object) -> None:
    for host in _host:
        host.stop()


def hosted_here() -> Host:
    """Return a host of all bots that hints of this process wake: the embedded default."""
    host = Host(children=settings.INFERENCE == "process")
    realtime.listen(host.wake)
    return host
