"""Early ends of a participation: by choice, by absence, with its campaign (S13, R21)."""

from __future__ import annotations

import uuid
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet

from webapp.models import (
    AdmissionTry,
    Assignment,
    Conversation,
    Event,
    Participation,
    ReplyJob,
    Seat,
)
from webapp.services.conversation import chat, matching
from webapp.services.replies import delivery
from webapp.services.rules import (
    events,
    flags,
    next_round,
    payment,
    persona_stack,
    protocols,
    refusals,
    rounds,
    states,
    uptime,
    work,
)

P, Outcome = Participation.State, Participation.Outcome
GRACE = timedelta(seconds=settings.PARTNER_GRACE)  # of a person whose partner waits
GONE = timedelta(minutes=30)  # of everybody else
KEPT = timedelta(minutes=30)  # of a place at each step without progress; a page that only asks is
# none. A wait has the campaign's own time before it. Before the start nobody has a place.
LONGEST_TICK = timedelta(minutes=5)  # of a sweeper, which read the time as it began
HOLDING = (P.ADMISSION, P.WAITING, P.CHATTING, P.RATING, P.WRITING)


class CameBack(Exception):
    """A sign of life arrived meanwhile: nothing is done."""


def if_stopped(person: Participation, now: datetime) -> tuple[str, payment.Due | None]:
    """Return what stopping now would be, and what it would pay: the page says so beforehand."""
    done = work.of(person)
    outcome = _outcome(person, done, now)
    return outcome, payment.due(person, outcome, done)


def outcome_of_stopping(person: Participation, now: datetime) -> str:
    """Return what stopping now would be."""
    return _outcome(person, work.of(person), now)


def _outcome(person: Participation, done: work.Work, now: datetime) -> str:
    """Return what stopping after so much work is.

    A participant whose wait times out after some work gets the higher of the two amounts.
    """
    owed = payment.part(payment.promised(person), done)
    if matching.choices(person, now) and (owed is None or owed.amount < person.waiting_pay):
        return Outcome.NOBODY
    if done.done:
        return Outcome.QUIT
    return Outcome.COMPLETED if rounds.done(person) else Outcome.DECLINED


def stop(*, person: Participation, now: datetime) -> Participation:
    """Stop at once, on any screen; work is paid by the campaign's rule. A repeat does nothing."""
    with transaction.atomic():
        chat.leave(person=person, now=now, because="stopped")
        person = _locked(person)
        if person.state == P.ENDED:
            return person
        outcome = outcome_of_stopping(person, now)
        if outcome == Outcome.COMPLETED:
            next_round.finish_between(person=person, now=now)
            return person
        if outcome == Outcome.QUIT and not protocols.is_endless(person.campaign):
            flags.raise_flag("stopped_early", campaign=person.campaign, participation=person)
        payment.settle(person=person, outcome=outcome, now=now)
        return person


def vanish(*, person: Participation, now: datetime) -> None:
    """Separate a person who went silent from the waiting partner; they may start again."""
    before = uptime.known(now).ago(GRACE)
    with transaction.atomic():
        _check_silent(person, before, now)
        chat.leave(person=person, now=now, because="vanished")
        person = _locked(person)
        if person.state != P.CHATTING or person.seen_at >= before:
            raise CameBack
        matching.send_to_start(person, now, notice="away")


def give_away(*, person: Participation, now: datetime, silent: timedelta = GONE) -> None:
    """End a participation without a sign of life for `silent`; their link lets them come back.

    Raises `CameBack` where there was one.
    """
    before = uptime.known(now).ago(silent)
    with transaction.atomic():
        _check_silent(person, before, now)
        chat.leave(person=person, now=now, because="left")
        person = _locked(person)
        if person.state == P.ENDED or person.seen_at >= before:
            raise CameBack
        payment.settle(person=person, outcome=Outcome.LEFT, now=now)


def _check_silent(person: Participation, before: datetime, now: datetime) -> None:
    """Raise `CameBack` where a person has written since: their message is acknowledged.

    Their sign of life is noted after the commit of the message. The conversation is locked, so
    that none is written after this look. Messages from far ahead are of a clock that went back.
    """
    seat = person.seats.filter(active=True).first()
    if seat is None:
        return
    conversation = events.lock(seat.conversation_id)
    own = events.messages(conversation).filter(side=seat.side)
    if own.filter(made_at__gte=before, made_at__lt=now + LONGEST_TICK).exists():
        raise CameBack


def stalled(now: datetime) -> QuerySet[Participation]:
    """Return who has a place and has made no progress for as long as it is kept (R40).

    Progress is a step, a message or label, an answer, or a draft that changed.
    """
    before = served(now).ago(KEPT)
    seats = Seat.objects.filter(participation=OuterRef("pk"), active=True)
    wrote = Event.objects.filter(
        conversation__seats__participation=OuterRef("pk"),
        conversation__seats__active=True,
        side=F("conversation__seats__side"),
        made_at__gte=before,
    )
    answered = Assignment.objects.filter(participation=OuterRef("pk"), done_at__gte=before)
    tried = AdmissionTry.objects.filter(participation=OuterRef("pk"), made_at__gte=before)
    # who wrote last waits for the partner: not theirs is the progress that is missing
    waits = seats.filter(conversation__last_side=F("side")).exclude(
        conversation__jobs__state=ReplyJob.State.FAILED
    )
    rows = Participation.objects.filter(state__in=HOLDING, state_at__lt=before)
    rows = rows.exclude(drafted_at__gte=before).exclude(Exists(wrote)).exclude(Exists(answered))
    return rows.exclude(Exists(tried)).exclude(Q(state=P.CHATTING) & Exists(waits))


def release(*, person: Participation, now: datetime) -> None:
    """Give the place of a person who makes no progress to others; the link lets them come back.

    Who waited is paid for that, and who got no answer from us is paid in full (R21). Raises
    `CameBack` where there was progress meanwhile, or a wait has its time still.
    """
    with transaction.atomic():
        seat = person.seats.filter(active=True).first()
        if seat is not None:
            events.lock(seat.conversation_id)
        if not stalled(now).filter(pk=person.pk).exists():
            raise CameBack
        if person.state == P.WAITING:
            _end_wait(person, now)
        elif not _give_up(person, now):
            chat.leave(person=person, now=now, because="left")
            payment.settle(person=_locked(person), outcome=Outcome.LEFT, now=now)


def _end_wait(person: Participation, now: datetime) -> None:
    longest = KEPT + timedelta(seconds=person.campaign.wait_seconds)
    if served(now).since(person.waiting_at or person.state_at) < longest:
        raise CameBack
    try:
        matching.give_up(person=person, now=now)
    except matching.NotWaiting:
        raise CameBack from None


def _give_up(person: Participation, now: datetime) -> bool:
    """End fully paid where the partner's answer failed; False where none did."""
    if person.state != P.CHATTING:
        return False
    try:
        chat.give_up(person=person, client_id=uuid.uuid4(), now=now)
    except refusals.NotNow:
        return False
    return True


def fall_silent(*, person: Participation, now: datetime) -> None:
    """End a conversation without a message for as long as its protocol allows.

    Who wrote something judges it; who wrote nothing has left, and their link lets them come back.
    Raises `CameBack` where there was a message meanwhile.
    """
    step = protocols.protocol_of(person.campaign).chat
    with transaction.atomic():
        seat = person.seats.filter(active=True).first()
        if seat is None or step is None:
            raise CameBack
        conversation = events.lock(seat.conversation_id)
        messages = events.messages(conversation)
        last = messages.last()
        since = last.made_at if last else conversation.started_at
        if conversation.state != Conversation.State.OPEN or _is_awake(since, step.idle, now):
            raise CameBack
        if messages.filter(side=seat.side).exists():
            chat.end_idle(conversation=conversation, now=now)
            return
        chat.leave(person=person, now=now, because="idle")
        payment.settle(person=_locked(person), outcome=Outcome.LEFT, now=now)


def _is_awake(since: datetime, idle: int, now: datetime) -> bool:
    return not idle or served(now).since(since) < timedelta(seconds=idle)


def served(now: datetime) -> uptime.Uptime:
    """Return the time in which pages and replies were served: without both nobody can go on."""
    return uptime.known(now, uptime.Part.WEB, uptime.Part.REPLIES)


def end_with_campaign(*, person: Participation, now: datetime) -> None:
    """End a participation of a stopped campaign, fully paid; their conversation ends as well."""
    with transaction.atomic():
        seat = person.seats.filter(active=True).first()
        if seat is not None:
            _close(events.lock(seat.conversation_id), now)
        payment.settle(person=person, outcome=Outcome.STOPPED, now=now)


def _close(conversation: Conversation, now: datetime) -> None:
    try:
        states.move(conversation, "abandon", ended_at=now, ended_because="campaign stopped")
    except states.Illegal:  # the partner's turn came first
        return
    events.append_one(events.New(conversation, Event.Kind.STATE, {"state": "stopped"}))
    delivery.drop(conversation)
    persona_stack.push_back_all(conversation)


def _locked(person: Participation) -> Participation:
    rows = Participation.objects.select_for_update(of=("self",), no_key=True).select_related(
        "campaign"
    )
    return rows.get(pk=person.pk)
