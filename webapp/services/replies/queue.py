"""The replies that bots owe, as rows: queued, claimed with a lease, put back (R11, R12).

A claim takes all waiting jobs of a bot at once, so a lone one is never held back and a rush fills a
batch. Leases are kept by the database's clock, so no worker's own clock matters (R27).
"""

from __future__ import annotations

import secrets
from collections import defaultdict
from collections.abc import Collection, Sequence
from datetime import timedelta
from typing import Any

from django.db import connection
from django.db.models import F, Q
from django.db.models.functions import Now

from webapp import realtime
from webapp.models import Conversation, ReplyJob, System
from webapp.services.rules import states

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
    waiting = ReplyJob.objects.filter(FREE | EXPIRED, bot=bot, attempt__lt=ATTEMPTS)
    numbers = waiting.order_by().values("conversation__system").distinct()
    return list(System.objects.filter(pk__in=numbers).order_by("pk"))


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
    if connection.vendor == "sqlite" and not jobs.exists():
        return []  # an UPDATE would wait for whoever writes, to find nothing
    oldest = jobs.order_by(F("lease_until").asc(nulls_first=True), "id")[: most or BATCH]
    taken = {"owner": owner, "attempt": F("attempt") + 1, "lease_until": Now() + LEASE}
    numbers = states.move_first(oldest, "claim", **taken)
    claimed = ReplyJob.objects.filter(pk__in=numbers, owner=owner).order_by("id")
    return list(claimed.select_related("conversation__system", "conversation__campaign"))


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
