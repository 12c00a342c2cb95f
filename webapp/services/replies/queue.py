"""The replies that bots owe, as rows: queued, claimed with a lease, put back (R11, R12).

A claim takes all waiting jobs of a bot at once, so a lone one is never held back and a rush fills a
batch. Leases are kept by the database's clock, so no worker's own clock matters (R27).
"""

from __future__ import annotations

import secrets
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from functools import lru_cache
from typing import Any

from django.db import connection, transaction
from django.db.models import F, Q
from django.db.models.functions import Now

from webapp import realtime
from webapp.models import Conversation, ReplyJob, System
from webapp.services.rules import statements, states

J = ReplyJob.State
OWED = (J.QUEUED, J.CLAIMED)
IS_OWED = Q(state=J.QUEUED) | Q(state=J.CLAIMED)  # as the index of open jobs has it
BATCH = 64  # jobs of one claim
ATTEMPTS = 3
LEASE = timedelta(seconds=15)
RENEWAL = 5.0  # seconds between extensions of a lease
PAUSE = timedelta(seconds=1)  # before a job that failed is tried again
FREE = Q(state=J.QUEUED) & (Q(lease_until=None) | Q(lease_until__lte=Now()))
EXPIRED = Q(state=J.CLAIMED, lease_until__lte=Now())


def queue(*, conversation: Conversation, in_reply_to: int) -> ReplyJob:
    """Owe a reply to the message `in_reply_to`; a worker is called after commit."""
    return queue_all([(conversation, in_reply_to)])[0]


def queue_all(owed: Sequence[tuple[Conversation, int]]) -> list[ReplyJob]:
    """Owe a reply to a message in each of several conversations."""
    jobs = [
        ReplyJob(
            conversation=conversation,
            in_reply_to=seq,
            bot=conversation.system.bot,
            queued_at=Now(),
        )
        for conversation, seq in owed
    ]
    made = ReplyJob.objects.bulk_create(jobs)
    systems: dict[tuple[str, int], list[int]] = defaultdict(list)
    for (conversation, _), job in zip(owed, made, strict=True):
        systems[job.bot, conversation.system_id].append(job.pk)
    for (bot, system), numbers in systems.items():
        realtime.call_on_commit(bot, system, numbers)
    return made


def call(job: ReplyJob) -> None:
    """Call a worker for a job that is waiting again, once this transaction has committed."""
    realtime.call_on_commit(job.bot, job.conversation.system_id, [job.pk])


def waiting_bots() -> list[str]:
    """Return the bots that have jobs to be claimed."""
    waiting = ReplyJob.objects.filter(FREE | EXPIRED, attempt__lt=ATTEMPTS)
    return list(waiting.order_by("bot").values_list("bot", flat=True).distinct())


def waiting_systems(bot: str) -> list[System]:
    """Return the systems of a bot that have jobs to be claimed."""
    return list(System.objects.raw(*_waiting(connection.vendor, bot)))


@lru_cache(maxsize=256)
def _waiting(_vendor: str, bot: str) -> tuple[str, tuple[Any, ...]]:
    """Return the query of a bot's waiting systems and its values, put together once."""
    waiting = ReplyJob.objects.filter(FREE | EXPIRED, bot=bot, attempt__lt=ATTEMPTS)
    numbers = waiting.order_by().values("conversation__system").distinct()
    query = System.objects.filter(pk__in=numbers).order_by("pk").query
    sql, values = query.sql_with_params()
    return sql, values


def claim(
    *, bot: str, owner: str, most: int | None = None, systems: Collection[int] | None = None
) -> list[ReplyJob]:
    """Claim the waiting jobs of a bot by one conditional UPDATE: new ones first, then the oldest.

    What was put back comes after them, so that a job that holds its bot up does not hold up others.
    `owner` gets a random end: two claims of one worker are told apart. `systems` None means all.
    """
    owner = f"{owner[:50]}:{secrets.token_hex(4)}"
    jobs = ReplyJob.objects.filter(FREE | EXPIRED, bot=bot, attempt__lt=ATTEMPTS)
    if systems is not None:
        jobs = jobs.filter(conversation__system__in=systems)
    oldest = jobs.order_by(F("lease_until").asc(nulls_first=True), "id")[: most or BATCH]
    taken = {"owner": owner, "attempt": F("attempt") + 1, "lease_until": Now() + LEASE}
    with _may_be_undone():
        numbers = states.move_first(oldest, "claim", **taken)
    if not numbers:
        return []
    return statements.held_jobs(owner)


@contextmanager
def _may_be_undone() -> Iterator[None]:
    """Commit without waiting for the disk: a claim that a power cut undoes leaves its job free.

    Whoever held it then finds the fence closed. What is committed later is on the disk only with
    all that was before it.
    """
    if connection.in_atomic_block:  # it is the outer one that commits
        yield
        return
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            with transaction.atomic():
                cursor.execute("SET LOCAL synchronous_commit = off")
                yield
            return
        cursor.execute("PRAGMA synchronous = NORMAL")
        try:
            yield
        finally:
            cursor.execute("PRAGMA synchronous = FULL")


def fence(job: ReplyJob) -> Q:
    """Only the claim that this row was read in: a later claim has another owner and attempt."""
    return Q(owner=job.owner, attempt=job.attempt)


def renew(owners: Collection[str]) -> int:
    """Extend the leases that these owners still hold."""
    held = ReplyJob.objects.filter(owner__in=owners, state=J.CLAIMED)
    return held.update(lease_until=Now() + LEASE)


def still_owed(numbers: Collection[int]) -> dict[int, str]:
    """Return the states of those jobs, by number, that wait for an answer or have failed."""
    jobs = ReplyJob.objects.filter(pk__in=numbers, state__in=(J.QUEUED, J.CLAIMED, J.FAILED))
    return dict(jobs.values_list("pk", "state"))


def held_by(prefix: str) -> list[ReplyJob]:
    """Return the claimed jobs whose owner's name begins so."""
    held = ReplyJob.objects.filter(state=J.CLAIMED, owner__startswith=prefix).order_by("pk")
    return list(held.select_related("conversation"))


def put_back(job: ReplyJob, error: str, *, pause: timedelta = PAUSE, **fields: Any) -> bool:
    """Let another claim take the job after a moment; False when it is no longer this claim's."""
    try:
        states.move(
            job,
            "put_back",
            only_if=fence(job),
            owner="",
            lease_until=Now() + pause,
            error=error,
            **fields,
        )
    except states.Illegal:
        return False
    return True
