"""A reply worker made with celery-batches instead: the rival of `tests.benchmarks.bursts`.

    REDIS_URL=... FLUSH=0.05 celery -A tests.benchmarks.batches_rival worker -Q rival -P threads

Each job is a task of its own that carries the job's id; celery-batches gathers those that came
within a moment. History, bot, storing and showing are Parley's own, so that only the way in which
batches come about differs.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webapp.settings")

import django
from celery import Celery
from celery.signals import worker_init
from celery_batches import Batches  # type: ignore[import-untyped]
from django.db.models import F

django.setup()

from webapp import inference  # noqa: E402
from webapp.models import ReplyJob  # noqa: E402
from webapp.services.replies import worker  # noqa: E402
from webapp.services.replies.batches import Limit  # noqa: E402
from webapp.services.replies.queue import BATCH  # noqa: E402

INTERVAL = float(os.environ.get("FLUSH", "0.05"))  # seconds

app = Celery("rival", broker=os.environ.get("REDIS_URL", "memory://"))
app.conf.update(
    task_ignore_result=True,
    worker_prefetch_multiplier=0,  # any number, as its documentation asks
    broker_connection_retry_on_startup=True,
)


@worker_init.connect
def _be_nice(**_: object) -> None:
    os.nice(inference.NICENESS)  # as a child of ours


@app.task(base=Batches, flush_every=BATCH, flush_interval=INTERVAL, name="rival.reply")
def reply(requests: Sequence[Any]) -> None:
    """Answer the jobs of one batch."""
    ids = [request.args[0] for request in requests]
    queued = ReplyJob.objects.filter(pk__in=ids, state=ReplyJob.State.QUEUED)
    queued.update(state=ReplyJob.State.CLAIMED, owner="rival", attempt=F("attempt") + 1)
    jobs = list(
        ReplyJob.objects.filter(pk__in=ids).select_related(
            "conversation__system", "conversation__campaign"
        )
    )
    turns = worker._turns(jobs)
    options = worker.options_of(jobs[0].conversation.system)
    work = worker.ReplyWork(jobs[0].bot, options, jobs, turns)
    worker.settle(worker.ask(work, inference.respond_here), Limit())
