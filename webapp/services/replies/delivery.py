"""Delivery of a reply: shown when it is due, tried once more, or given up as a failure.

An answer is stored only by the claim that gave it, and shown only in an open conversation; both in
one transaction, so a reply is there once or not at all (R12).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any

from django.db import IntegrityError, connection, transaction
from django.db.models import DurationField, ExpressionWrapper, F, Min, QuerySet
from django.db.models.functions import Now

from webapp import clock
from webapp.models import Campaign, Conversation, Event, Flag, Participation, ReplyJob
from webapp.services.replies import allowances, calls, pace, queue, rehearsal
from webapp.services.rules import audit, events, flags, payment, persona_stack, states, uptime

J = ReplyJob.State
OPEN = Conversation.State.OPEN
LOADING = 300  # seconds in which a rehearsal's first answer may come: its model is loaded for it
CHUNK = 16  # jobs of one transaction: senders wait no longer than this many take
STORE = 'UPDATE "webapp_replyjob" SET "text" = %s, "details" = %s WHERE "id" = %s'
LOSSES = 6  # of its worker that a job may meet without blame
AT_ONCE = timedelta()


@dataclass(frozen=True)
class BotAnswer:
    """The reply of a bot to one job, and the details kept with it."""

    job: ReplyJob
    text: str
    details: Mapping[str, Any]


def answer(answers: Sequence[BotAnswer], locked: Mapping[int, Conversation] | None = None) -> int:
    """Store answers, and show those that are due at once; returns how many were stored.

    Several share a transaction. Should one break it, each gets a transaction of its own. `locked`
    are conversations whose locks the caller's transaction has, as it read them under these.
    """
    stored = 0
    for start in range(0, len(answers), CHUNK):
        chunk = answers[start : start + CHUNK]
        try:
            stored += _answer(chunk, locked or {})
        except IntegrityError:
            stored += sum(_answer([one], {}) for one in chunk)
    return stored


def _answer(answers: Sequence[BotAnswer], locked: Mapping[int, Conversation]) -> int:
    with transaction.atomic():
        wanted = {answer.job.conversation_id for answer in answers}
        conversations = locked if wanted <= set(locked) else events.lock_all(wanted)
        mixed = _mixed(answers)
        later = [answer for answer in answers if _is_shown_later(answer, mixed)]
        kept = {answer.job.pk for answer in later}
        at_once = [answer for answer in answers if answer.job.pk not in kept]
        stored = _store(at_once, "answer_at_once")
        _show([(answer.job, answer.text) for answer in stored], conversations)
        return len(stored) + len(_store(later, "answer"))


def _store(answers: Sequence[BotAnswer], event: str) -> list[BotAnswer]:
    """Store answers and return them, without those whose job another claim has or was given up.

    The jobs of one claim move by one conditional UPDATE; what each holds is then written to rows
    that are this claim's. Of one job it is a part of that UPDATE.
    """
    moved: list[BotAnswer] = []
    several: list[BotAnswer] = []
    for fence, claimed in groupby(
        answers, key=lambda answer: (answer.job.owner, answer.job.attempt)
    ):
        group = {answer.job.pk: answer for answer in claimed}
        rows = ReplyJob.objects.filter(pk__in=group, owner=fence[0], attempt=fence[1])
        set_now: dict[str, Any] = {
            "answered_at": Now(),
            "due_at": Now(),
            "lease_until": None,
            "error": "",
        }
        if len(group) == 1:
            (one,) = group.values()
            set_now |= {"text": one.text, "details": _details(one)}
        count = states.try_move(rows, event, **set_now)
        mine = set(group)
        if count < len(group):
            mine = _moved_now(rows, fence[1])
        moved += [answer for pk, answer in group.items() if pk in mine]
        several += moved[len(moved) - len(mine) :] if len(group) > 1 else []
    for answer in moved:
        answer.job.text, answer.job.details = answer.text, _details(answer)
    _store_texts(several)
    if event == "answer":
        for answer in moved:
            answer.job.due_at = _due_at(answer)
        ReplyJob.objects.bulk_update([one.job for one in moved], ["due_at"])
    return moved


def _details(answer: BotAnswer) -> dict[str, Any]:
    """Return what a job keeps of an answer: the bot's details, its losses and its attempt."""
    known = answer.job.details
    kept = {"losses": known["losses"]} if "losses" in known else {}
    return {**answer.details, **kept, "attempt": answer.job.attempt}


def _moved_now(rows: QuerySet[ReplyJob], attempt: int) -> set[int]:
    """Return the jobs of a claim that were answered, without those whose answer is stored already.

    A caller that repeats itself, as after a lost connection, has nothing more to store.
    """
    answered = rows.filter(answered_at__isnull=False).values_list("pk", "details")
    return {pk for pk, details in answered if details.get("attempt") != attempt}


def _store_texts(moved: Sequence[BotAnswer]) -> None:
    """Write what each answer holds: one statement, which Django's CASE of all rows is slower than.

    The rows are this claim's since they moved, in the same transaction.
    """
    details: Any = ReplyJob._meta.get_field("details")  # which databases want in different forms
    rows = [
        (one.job.text, details.get_db_prep_save(one.job.details, connection), one.job.pk)
        for one in moved
    ]
    if rows:
        with connection.cursor() as cursor:
            cursor.executemany(STORE, rows)


def _mixed(answers: Sequence[BotAnswer]) -> set[int]:
    """Return the campaigns of the answers where a partner can be a person, by a query of each."""
    campaigns = {each.campaign_id: each.campaign for each in (a.job.conversation for a in answers)}
    return {pk for pk, campaign in campaigns.items() if pace.is_mixed(campaign)}


def _is_shown_later(answer: BotAnswer, mixed: Collection[int]) -> bool:
    conversation = answer.job.conversation
    is_study = conversation.purpose == Conversation.Purpose.STUDY
    is_paced = is_study and conversation.campaign_id in mixed
    return is_paced or bool(pace.typing_seconds(conversation, answer.text))


def _due_at(answer: BotAnswer) -> Any:
    """Return when a reply is shown: a time, or an expression of the database's clock."""
    job = answer.job
    seconds = pace.seconds_like_people(job.conversation, answer.text, job.in_reply_to)
    if seconds is not None:
        return job.queued_at + timedelta(seconds=seconds)
    return Now() + timedelta(seconds=pace.typing_seconds(job.conversation, answer.text))


def show_later(conversation: Conversation, text: str, *, in_reply_to: int, seconds: float) -> None:
    """Show fixed words as a bot's message, once so many seconds have passed."""
    ReplyJob.objects.create(
        conversation=conversation,
        in_reply_to=in_reply_to,
        bot=conversation.system.bot,
        state=J.ANSWERED,
        queued_at=Now(),
        answered_at=Now(),
        due_at=Now() + timedelta(seconds=seconds),
        text=text,
    )


def deliver_due() -> int:
    """Show the answers whose time has come; returns how many were shown."""
    due = ReplyJob.objects.filter(state=J.ANSWERED, due_at__lte=Now()).order_by("due_at")
    return sum(_deliver(job) for job in due[: queue.BATCH])


def seconds_to_next() -> float | None:
    """Return how long until the next answer is due, by the database's clock."""
    answered = ReplyJob.objects.filter(state=J.ANSWERED)
    wait = ExpressionWrapper(Min("due_at") - Now(), output_field=DurationField())
    left: timedelta | None = answered.aggregate(wait=wait)["wait"]
    return None if left is None else max(0.0, left.total_seconds())


def _deliver(job: ReplyJob) -> bool:
    with transaction.atomic():
        conversations = events.lock_all([job.conversation_id])
        delivered = states.try_move(ReplyJob.objects.filter(pk=job.pk), "deliver")
        if delivered:
            _show([(job, job.text)], conversations)
    return bool(delivered)


def _show(
    answers: Sequence[tuple[ReplyJob, str]], conversations: Mapping[int, Conversation]
) -> None:
    """Append answers to their conversations, and drop those that are over."""
    is_open = [one for one in answers if conversations[one[0].conversation_id].state == OPEN]
    over = [job.pk for job, _ in answers if conversations[job.conversation_id].state != OPEN]
    if over:
        states.try_move(ReplyJob.objects.filter(pk__in=over), "withhold")
        calls.mark_unwanted(ReplyJob.objects.filter(pk__in=over))
    events.append_all(
        [
            events.New(
                conversations[job.conversation_id],
                kind=Event.Kind.MESSAGE,
                content={"text": text},
                side=1,
                in_reply_to=job.in_reply_to,
            )
            for job, text in is_open
        ]
    )
    for job, _ in is_open:
        conversation = conversations[job.conversation_id]
        if conversation.purpose == Conversation.Purpose.REHEARSAL:
            rehearsal.replied(conversation, job.details)


def refuse(job: ReplyJob, text: str, complaint: str) -> None:
    """Keep a reply that breaks a rule as a refused draft, which nobody is shown; ask for another.

    Only the claim that it answers may do so.
    """
    with transaction.atomic():
        conversation = events.lock(job.conversation_id)
        held = ReplyJob.objects.filter(queue.fence(job), pk=job.pk, state=J.CLAIMED)
        if conversation.state == OPEN and held.exists():
            content = {"refused": text, "complaint": complaint}
            events.append_one(events.New(conversation, Event.Kind.STATE, content, side=1))
            failed(job, f"refused: {complaint}"[:500])


def failed(job: ReplyJob, error: str, *, pause: timedelta = queue.PAUSE) -> None:
    """Try again later, or give the job up after the last attempt."""
    if job.attempt < queue.ATTEMPTS:
        queue.put_back(job, error, pause=pause)
    else:
        give_up(job, error)


def lost(job: ReplyJob, error: str, *, to_blame: bool) -> None:
    """Put back a job whose worker was lost; it counts as an attempt where its bot is to blame.

    It may be claimed at once: whatever was lost has to start anew before it is called again. A job
    that keeps losing workers is counted in any case, so that it comes to an end.
    """
    losses = int(job.details.get("losses", 0)) + 1
    if to_blame or losses > LOSSES:
        failed(job, error, pause=AT_ONCE)
        return
    details = {**job.details, "losses": losses}
    queue.put_back(job, error, pause=AT_ONCE, attempt=F("attempt") - 1, details=details)


def give_up(job: ReplyJob, error: str) -> bool:
    """Fail a job: staff see it and can retry it, the participant is told (R13, R25)."""
    with transaction.atomic():
        conversation = events.lock(job.conversation_id)
        try:
            states.move(job, "give_up", only_if=queue.fence(job), error=error, lease_until=None)
        except states.Illegal:
            return False
        allowances.give_back([job])
        if conversation.purpose == Conversation.Purpose.REHEARSAL:
            rehearsal.failed(conversation, error)
        elif conversation.state == Conversation.State.OPEN:
            _flag_failure(conversation, job, error)
    return True


def fail(conversation: Conversation, because: str, now: datetime) -> None:
    """End a conversation whose failure is ours: who is in it gets full pay (R13, R21)."""
    states.move(conversation, "fail", ended_at=now, ended_because=because)
    for seat in conversation.seats.filter(active=True).exclude(participation=None):
        person = seat.participation
        if person is not None:
            payment.settle(person=person, outcome=Participation.Outcome.FAILED, now=now)
    persona_stack.push_back_all(conversation)
    conversation.seats.filter(active=True).update(active=False)


def end_without_allowance(job: ReplyJob, error: str, *, campaign: bool) -> None:
    """End a conversation for which no tokens are left; a campaign without any is paused."""
    now = clock.read()
    with transaction.atomic():
        conversation = events.lock(job.conversation_id)
        try:
            states.move(job, "give_up", only_if=queue.fence(job), error=error, lease_until=None)
        except states.Illegal:
            return
        flags.raise_flag("no_tokens", campaign=conversation.campaign, conversation=conversation)
        is_of_people = conversation.purpose == Conversation.Purpose.STUDY
        if is_of_people and conversation.state == OPEN:
            content = {"state": "failed", "because": "no_tokens"}
            events.append_one(events.New(conversation, Event.Kind.STATE, content))
            fail(conversation, "no_tokens", now)
    if campaign:
        pause(conversation.campaign, actor="reply worker", reason=error, now=now)


def pause(campaign: Campaign, *, actor: str, reason: str, now: datetime) -> bool:
    """Let nobody join a campaign, by the platform itself: no amendment. A repeat does nothing."""
    with transaction.atomic():
        if not states.try_move(Campaign.objects.filter(pk=campaign.pk), "pause"):
            return False
        holders = campaign.participations.exclude(persona=None).order_by("pk")
        persona_stack.give_back_all(holders.select_related("campaign", "persona"))
        audit.append(
            actor=actor, action="campaign pause", campaign=campaign, now=now, reason=reason
        )
        return True


def _flag_failure(conversation: Conversation, job: ReplyJob, error: str) -> None:
    Flag.objects.create(
        campaign=conversation.campaign,
        conversation=conversation,
        kind="no_reply",
        detail=f"{job.bot}: {error}"[:500],
    )
    if conversation.purpose == Conversation.Purpose.STUDY:
        content = {"notice": "no_answer"}
        events.append_one(events.New(conversation, Event.Kind.NOTICE, content))


def retry(job: ReplyJob) -> ReplyJob:
    """Owe a failed reply anew, with all attempts."""
    with transaction.atomic():
        states.move(job, "retry", attempt=0, owner="", lease_until=None, queued_at=Now())
        queue.call(job)
    return job


def drop(conversation: Conversation) -> None:
    """Want no more replies in a conversation that is over."""
    jobs = ReplyJob.objects.filter(conversation=conversation)
    if states.try_move(jobs, "drop", lease_until=None):
        calls.mark_unwanted(jobs.filter(state=J.DROPPED))


def sweep() -> int:
    """Put back what dead workers held, and give up what took too long; returns how many."""
    found = ReplyJob.objects.filter(queue.EXPIRED).select_related("conversation").order_by("id")
    expired = list(found[: queue.BATCH])
    up = uptime.known(clock.read())
    for job in expired:
        until = job.lease_until
        if until is not None and up.was_cut(until - queue.LEASE, until):
            lost(job, "the platform was away", to_blame=False)
        else:
            failed(job, "the worker did not finish")
    for job in expired:
        queue.call(job)
    return len(expired) + sum(give_up(job, "no answer in time") for job in _overdue(up))


def _overdue(up: uptime.Uptime) -> list[ReplyJob]:
    """Return the jobs of people who have waited for longer than their campaign allows."""
    owed = ReplyJob.objects.filter(queue.IS_OWED).exclude(
        conversation__purpose=Conversation.Purpose.CONTEXT
    )
    aged = owed.select_related("conversation__campaign").order_by("id")
    return [job for job in aged[:500] if _is_overdue(job, up.since(job.queued_at).total_seconds())]


def _is_overdue(job: ReplyJob, seconds: float) -> bool:
    if seconds < job.conversation.campaign.reply_seconds:
        return False
    return seconds >= LOADING or not _may_be_loading(job.conversation)


def _may_be_loading(conversation: Conversation) -> bool:
    """Tell whether this is a rehearsal, or a test chat, whose bot has not answered yet."""
    if conversation.purpose != Conversation.Purpose.REHEARSAL:
        return False
    return not conversation.jobs.filter(state__in=(J.ANSWERED, J.DONE)).exists()
