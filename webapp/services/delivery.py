"""What becomes of a reply job: an answer that is shown when it is due, another try, or a failure.

An answer is stored only by the claim that gave it, and shown only in an open conversation; both in
one transaction, so a reply is there once or not at all (R12).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models import DurationField, ExpressionWrapper, F, Min
from django.db.models.functions import Now

from webapp import realtime
from webapp.models import Conversation, Event, Flag, ReplyJob
from webapp.services import events, plans, rehearsal, replies, states

J = ReplyJob.State
CHUNK = 8  # jobs of one transaction: senders wait no longer than this many take
OWED = (J.QUEUED, J.CLAIMED)


@dataclass(frozen=True)
class Answer:
    """What a bot says to one job, and what is kept about it."""

    job: ReplyJob
    text: str
    details: Mapping[str, Any]


def answer(answers: Sequence[Answer]) -> int:
    """Store answers, and show those that are due at once; returns how many were stored."""
    stored = 0
    for start in range(0, len(answers), CHUNK):
        with transaction.atomic():
            stored += sum(_answer(one) for one in answers[start : start + CHUNK])
    return stored


def _answer(given: Answer) -> bool:
    job = given.job
    seconds = _typing_seconds(job.conversation, given.text)
    try:
        with transaction.atomic():
            conversation = events.lock(job.conversation_id)
            states.move(
                job,
                "answer" if seconds else "answer_at_once",
                only_if=replies.fence(job),
                text=given.text,
                details={**given.details, "attempt": job.attempt},
                answered_at=Now(),
                due_at=Now() + timedelta(seconds=seconds),
                lease_until=None,
                error="",
            )
            if not seconds:
                _show(job, conversation)
    except states.Illegal:
        return False  # another claim has the job, or it was given up: this answer is discarded
    return True


def _typing_seconds(conversation: Conversation, text: str) -> float:
    chat = plans.protocol_of(conversation.campaign).chat
    if chat is None or conversation.purpose != Conversation.Purpose.STUDY:
        return 0.0
    return chat.pace * len(text.split())


def deliver_due() -> int:
    """Show the answers whose time has come; returns how many were shown."""
    due = ReplyJob.objects.filter(state=J.ANSWERED, due_at__lte=Now()).order_by("due_at")
    return sum(_deliver(job) for job in due[: replies.BATCH])


def seconds_to_next() -> float | None:
    """Return how long until the next answer is due, by the database's clock."""
    answered = ReplyJob.objects.filter(state=J.ANSWERED)
    wait = ExpressionWrapper(Min("due_at") - Now(), output_field=DurationField())
    left: timedelta | None = answered.aggregate(wait=wait)["wait"]
    return None if left is None else max(0.0, left.total_seconds())


def _deliver(job: ReplyJob) -> bool:
    try:
        with transaction.atomic():
            conversation = events.lock(job.conversation_id)
            states.move(job, "deliver")
            _show(job, conversation)
    except states.Illegal:
        return False
    return True


def _show(job: ReplyJob, conversation: Conversation) -> None:
    if conversation.state != Conversation.State.OPEN:
        ReplyJob.objects.filter(pk=job.pk).update(state=J.DROPPED)
        return
    events.append(
        conversation=conversation,
        kind=Event.Kind.MESSAGE,
        content={"text": job.text},
        side=1,
        in_reply_to=job.in_reply_to,
    )
    if conversation.purpose == Conversation.Purpose.REHEARSAL:
        rehearsal.passed(conversation.system, job)


def failed(job: ReplyJob, error: str) -> None:
    """Try again later, or give the job up after the last attempt."""
    if job.attempt < replies.ATTEMPTS:
        replies.put_back(job, error)
    else:
        give_up(job, error)


def give_up(job: ReplyJob, error: str) -> bool:
    """Fail a job: staff see it and can retry it, the participant is told (R13, R25)."""
    with transaction.atomic():
        conversation = events.lock(job.conversation_id)
        try:
            states.move(job, "give_up", only_if=replies.fence(job), error=error, lease_until=None)
        except states.Illegal:
            return False
        if conversation.purpose == Conversation.Purpose.REHEARSAL:
            rehearsal.failed(conversation.system, error)
        elif conversation.state == Conversation.State.OPEN:
            _tell(conversation, job, error)
    return True


def _tell(conversation: Conversation, job: ReplyJob, error: str) -> None:
    Flag.objects.create(
        campaign=conversation.campaign,
        conversation=conversation,
        kind="no_reply",
        detail=f"{job.bot}: {error}"[:500],
    )
    if conversation.purpose == Conversation.Purpose.STUDY:
        content = {"notice": "no_answer"}
        events.append(conversation=conversation, kind=Event.Kind.NOTICE, content=content)


def retry(job: ReplyJob) -> ReplyJob:
    """Owe a failed reply anew, with all attempts."""
    with transaction.atomic():
        states.move(job, "retry", attempt=0, owner="", lease_until=None, queued_at=Now())
        realtime.call_on_commit(job.bot)
    return job


def drop(conversation: Conversation) -> None:
    """Want no more replies in a conversation that is over."""
    owed = conversation.jobs.filter(state__in=(*OWED, J.ANSWERED))
    owed.update(state=J.DROPPED, lease_until=None)


def sweep() -> int:
    """Put back what dead workers held, and give up what took too long; returns how many."""
    expired = list(ReplyJob.objects.filter(replies.EXPIRED).order_by("id")[: replies.BATCH])
    for job in expired:
        failed(job, "the worker did not finish")
    for job in expired:
        realtime.call(job.bot)
    return len(expired) + sum(give_up(job, "no answer in time") for job in _overdue())


def _overdue() -> list[ReplyJob]:
    """Return the jobs of people who have waited for longer than their campaign allows."""
    age = ExpressionWrapper(Now() - F("queued_at"), output_field=DurationField())
    owed = ReplyJob.objects.filter(state__in=OWED).exclude(
        conversation__purpose=Conversation.Purpose.CONTEXT
    )
    aged = owed.select_related("conversation__campaign").annotate(age=age).order_by("id")
    return [
        job
        for job in aged[:500]
        if job.age.total_seconds() >= job.conversation.campaign.reply_seconds
    ]
