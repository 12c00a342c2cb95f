"""Reply workers: which bots this process answers for, in threads that hints wake.

One thread a bot: what arrives while it answers is its next batch, and no bot waits for another. A
bot that loads a model is loaded before this worker says that it answers for it. Besides, one thread
looks into the table at least every 2 s, so that lost hints cost no more than that, shows answers
whose time has come, and keeps the heartbeat (R11). Long because the threads, and Celery's way of
starting them, belong together.
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

from bots.footprint import machine_megabytes
from webapp import inference, realtime
from webapp.celery import app
from webapp.children import Budget, Children
from webapp.services.replies import delivery, heartbeats, worker
from webapp.services.replies import queue as replies_queue
from webapp.services.replies.batches import Limit
from webapp.services.rules import uptime

log = logging.getLogger(__name__)
POLL = 2.0  # seconds
RETRY = 1.0  # seconds after database trouble
BEAT = 5.0  # seconds between heartbeats
SHARE = 0.75  # of the machine's memory that bots may hold where no setting says
PREFIX = "bot."  # of a bot's queue


class Host:
    """Answers what its bots owe; `bots` None means all of them."""

    def __init__(
        self,
        bots: Collection[str] | None = None,
        *,
        children: Children | None = None,
        on_lost: Callable[[], None] = lambda: None,
    ) -> None:
        self.name = f"{socket.gethostname()[:30]}:{os.getpid()}"
        self._bots = bots
        self._on_lost = on_lost
        self._children = children
        self._calls: dict[str, threading.Event] = {}
        self._turns: dict[str, threading.Lock] = defaultdict(threading.Lock)
        self._limits: dict[str, Limit] = defaultdict(Limit)
        self._is_planned = False
        self._warming: set[str] = set()
        self._one_load = threading.Lock()  # what is loaded side by side takes memory twice
        self._threads: list[threading.Thread] = []
        self._lock = threading.Lock()
        self._look = threading.Event()
        self._stopped = threading.Event()
        self._beat = threading.Event()

    def start(self) -> None:
        """Begin to load what people may talk to, and to answer; returns at once."""
        self._run("replies", self._poll)

    def stop(self) -> None:
        """End threads and children; what they were working on is for others, or for later."""
        self._stopped.set()
        self._look.set()
        self._beat.set()
        with self._lock:
            for call in self._calls.values():
                call.set()
            threads = list(self._threads)
        if self._children is not None:
            self._children.close()
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
        """Answer all that a bot owes; returns how many jobs were claimed.

        While a bot is being loaded its jobs are left to other workers, or for when it is ready.
        """
        if bot in self._warming:
            return 0
        total, children, limit = 0, self._apart(bot), self._limits[bot]
        with self._turns[bot]:
            while not self._stopped.is_set():
                limit.one_by_one = children is not None and children.one_by_one(bot)
                count = worker.serve(
                    bot=bot,
                    owner=self.name,
                    respond=self._respond(bot),
                    limit=limit,
                )
                if not count:
                    break
                total += count
        if total:
            self._look.set()  # answers may be due soon
        return total

    def _apart(self, bot: str) -> Children | None:
        """Return the children that a bot runs in, if it does."""
        return self._children if inference.needs_own_process(bot) else None

    def _respond(self, bot: str) -> inference.Respond:
        children = self._apart(bot)
        return inference.respond_here if children is None else children.respond

    def _answer(self, bot: str, call: threading.Event) -> None:
        while not self._stopped.is_set():
            if bot in self._warming:
                self._warm_up(bot)
            call.wait()
            call.clear()
            try:
                self.serve(bot)
            except inference.WorkerLost as lost:
                self.reload_after_loss(bot, lost)

    def reload_after_loss(self, bot: str, lost: inference.WorkerLost) -> None:
        """Load a bot anew whose child was lost, or leave where this process itself is at fault."""
        log.error("%s: %s", bot, lost)
        if self._apart(bot) is None:
            self._on_lost()
            return
        self._warming.add(bot)
        self.wake(bot)

    def _warm_up(self, bot: str) -> None:
        """Load the bot's systems; until then it is not announced as answered here."""
        children = self._apart(bot)
        try:
            for name, options in worker.wanted([bot]):
                if children is None or children.is_full or self._stopped.is_set():
                    break
                with self._one_load:
                    children.warm_up(name, options)
        except inference.WorkerLost as lost:
            log.error("%s cannot be loaded: %s", bot, lost)
            self._stopped.wait(RETRY)
        except inference.BotFailed as failed:  # each of its jobs will say so
            log.error("%s cannot be loaded: %s", bot, failed)
        self._warming.discard(bot)
        self._beat.set()
        self.wake(bot)

    def _plan(self) -> None:
        """Find what is to be loaded, before this worker says what it answers for."""
        if self._children is not None:
            wanted = worker.wanted(self._bots)
            self._warming |= {bot for bot, _ in wanted if inference.needs_own_process(bot)}
        self._is_planned = True
        self._run("heartbeat", self._keep_beating)
        for bot in sorted(self._warming):
            self.wake(bot)

    def _poll(self) -> None:
        if not self._is_planned:
            self._plan()
        while not self._stopped.is_set():
            self._look.clear()
            delivery.deliver_due()
            for bot in replies_queue.waiting_bots():
                self.wake(bot)
            due = delivery.seconds_to_next()
            self._look.wait(POLL if due is None else min(POLL, due + 0.005))

    def _keep_beating(self) -> None:
        while not self._stopped.is_set():
            self._beat.clear()
            bots = sorted(self._bots) if self._bots is not None else [heartbeats.EVERY]
            heartbeats.beat(name=self.name, bots=bots, state=self._state())
            uptime.beat(uptime.Part.REPLIES)
            self._beat.wait(BEAT)

    def _state(self) -> heartbeats.State:
        held = {} if self._children is None else self._children.sizes()
        memory = {
            bot: (sum(each.machine for each in sizes), sum(each.device for each in sizes))
            for bot, sizes in held.items()
        }
        limits = dict(self._limits)
        return heartbeats.State(
            warming=sorted(self._warming),
            memory=memory,
            batch={bot: limit.now for bot, limit in limits.items() if limit.most is not None},
            losses={bot: limit.losses for bot, limit in limits.items() if limit.losses},
        )

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
    """Wake the bot's thread: no bot's hints wait until another one has answered."""
    for host in _host:
        host.wake(bot)


def _leave() -> None:
    """End at once: a process whose device failed is not to be trusted. Its jobs are put back."""
    log.error("leaving: the device of this worker failed")
    os._exit(inference.LEFT)


@worker_ready.connect
def _start_hosting(sender: Any, **_: object) -> None:
    queues = sender.app.amqp.queues.consume_from
    bots = [queue.removeprefix(PREFIX) for queue in queues if queue.startswith(PREFIX)]
    if type(sender.pool).__module__.endswith("prefork"):
        raise SystemExit("use -P solo: models must not be loaded before a fork")
    if not bots:
        raise SystemExit("say which bots this worker answers for, such as -Q bot.profile_memory")
    _host.append(Host(bots, children=_children(), on_lost=_leave))
    _host[0].start()


@worker_shutting_down.connect
def _stop_hosting(**_: object) -> None:
    for host in _host:
        host.stop()


def hosted_here() -> Host:
    """Return a host of all bots that hints of this process wake: the embedded default."""
    host = Host(children=_children())
    realtime.listen(host.wake)
    return host


def _children() -> Children | None:
    """Return where bots with models run: in processes of their own, unless settings say not."""
    if settings.INFERENCE != "process":
        return None
    machine = settings.BOT_MEMORY_MB or SHARE * machine_megabytes()
    return Children(Budget(machine, settings.BOT_DEVICE_MB), patience=settings.BOT_SECONDS)
