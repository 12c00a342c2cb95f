"""Reply tasks of Celery: each carries the numbers of jobs, and lasts until they are answered.

    celery -A webapp worker -Q bot.chat_server,bot.callable -P threads -c 64

A task hands its jobs to this worker's host, which batches across conversations and keeps each
system's limit, and ends when they are settled: it is acknowledged then, tried again when its jobs
were put back, and fails when they were given up. What the table says holds: a task whose jobs
another worker has answered ends, one that was lost is made up for by a look into the table. The
host begins before the broker is reached, and answers without one.

The control command `wake` reaches every worker, even one whose threads are all taken by tasks of a
slow system: a task that waits for a thread would keep a quick system waiting.
"""

from __future__ import annotations

import logging
import os
import threading
from typing import Any

from celery import Task, bootsteps
from celery.exceptions import Reject
from celery.signals import celeryd_after_setup, worker_shutdown, worker_shutting_down
from celery.worker.control import control_command

from webapp import inference
from webapp.celery import SOFT_LIMIT, app
from webapp.models import ReplyJob
from webapp.services.replies import delivery
from webapp.services.replies.queue import ATTEMPTS, PAUSE
from webapp.workers import Host, children

log = logging.getLogger(__name__)
PREFIX = "bot."  # of a bot's queue
_host: list[Host] = []
_stopping: list[threading.Thread] = []


class ReplyGivenUp(RuntimeError):
    """Replies that nobody waits for any more: staff see why on the live page."""


class ReplyLate(RuntimeError):
    """Jobs that were neither answered nor put back within the time limit of a task."""


@app.task(name="answer", bind=True, max_retries=ATTEMPTS + delivery.LOSSES)
def answer(self: Task[..., None], bot: str, jobs: list[int]) -> None:
    """Answer these jobs of a bot; others of the same system may share their batch."""
    if not _host:  # this worker is only about to start
        raise self.retry(countdown=1)
    host = _host[0]
    host.wake(bot)
    states = host.watch.wait_for(jobs, SOFT_LIMIT)
    again = [job for job in jobs if states.get(job) in (ReplyJob.State.QUEUED, None)]
    if host.watch.is_closed and again:
        raise Reject("the worker was stopped", requeue=True)
    if len(states) < len(jobs):
        raise ReplyLate(f"jobs {[job for job in jobs if job not in states]}")
    if again:
        raise self.retry(args=[bot, again], countdown=PAUSE.total_seconds())
    given_up = [job for job in jobs if states[job] == ReplyJob.State.FAILED]
    if given_up:
        raise ReplyGivenUp(f"jobs {given_up}")


def _leave() -> None:
    """End at once: a process whose device failed is not to be trusted. Its jobs are put back."""
    log.error("leaving: the device of this worker failed")
    os._exit(inference.LEFT)


@control_command(args=[("bot", str)])
def wake(state: object, bot: str) -> None:
    """Let this worker look for jobs of a bot."""
    for host in _host:
        host.wake(bot)


@celeryd_after_setup.connect
def _start_hosting(instance: Any, **_: object) -> None:
    queues = instance.app.amqp.queues.consume_from
    bots = [queue.removeprefix(PREFIX) for queue in queues if queue.startswith(PREFIX)]
    if instance.pool_cls.__module__.endswith("prefork"):
        raise SystemExit("use -P threads or -P solo: models must not be loaded before a fork")
    if not bots:
        raise SystemExit("say which bots this worker answers for, such as -Q bot.profile_memory")
    _host.append(Host(bots, children=children(), on_lost=_leave))
    _host[0].start()


class EventsAtOnce(bootsteps.StartStopStep):
    """Each event of a task is sent by itself: Celery's own buffer of them is not safe with threads.

    What a thread adds while the buffer is being sent is lost (celery issue 10434), and Flower shows
    a task that has ended as one that still runs.
    """

    requires = ("celery.worker.consumer.events:Events",)

    def start(self, parent: Any) -> None:
        parent.event_dispatcher.buffer_group = frozenset()


app.steps["consumer"].add(EventsAtOnce)


@worker_shutting_down.connect
def _stop_hosting(**_: object) -> None:
    """Stop in a thread: this is called by a signal's handler, between any two steps of a task."""
    for host in _host:
        _stopping.append(threading.Thread(target=host.stop, name="stopping"))
        _stopping[-1].start()


@worker_shutdown.connect
def _wait_until_stopped(**_: object) -> None:
    for thread in _stopping:
        thread.join()
