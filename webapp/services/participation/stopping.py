"""Early ends of a participation: by choice, by absence, with its campaign (S13, R21)."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction

from webapp.models import Conversation, Event, Participation
from webapp.services.conversation import chat, matching
from webapp.services.replies import delivery
from webapp.services.rules import (
    events,
    flags,
    next_round,
    payment,
    persona_stack,
    protocols,
    rounds,
    states,
    uptime,
    work,
)

GRACE = timedelta(seconds=settings.PARTNER_GRACE)  # of a person whose partner waits
GONE = timedelta(minutes=30)  # of everybody else
P, Outcome = Participation.State, Participation.Outcome


class CameBack(Exception):
    """A sign of life arrived meanwhile: nothing is done."""


def outcome_of_stopping(person: Participation, now: datetime) -> str:
    """Return what stopping now would be: the page says beforehand what it means for pay.

    A participant whose wait times out after some work gets the higher of the two amounts.
    """
    done = work.of(person)
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
    with transaction.atomic():
        chat.leave(person=person, now=now, because="vanished")
        person = _locked(person)
        if person.state != P.CHATTING or person.seen_at >= uptime.known(now).ago(GRACE):
            raise CameBack
        matching.send_to_start(person, now, notice="away")


def give_away(*, person: Participation, now: datetime, silent: timedelta = GONE) -> None:
    """End a participation without a sign of life for `silent`; their link lets them come back.

    Raises `CameBack` where there was one.
    """
    with transaction.atomic():
        chat.leave(person=person, now=now, because="left")
        person = _locked(person)
        if person.state == P.ENDED or person.seen_at >= uptime.known(now).ago(silent):
            raise CameBack
        payment.settle(person=person, outcome=Outcome.LEFT, now=now)


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
    events.append(conversation=conversation, kind=Event.Kind.STATE, content={"state": "stopped"})
    delivery.drop(conversation)
    persona_stack.push_back_all(conversation)


def _locked(person: Participation) -> Participation:
    rows = Participation.objects.select_for_update(of=("self",), no_key=True).select_related(
        "campaign"
    )
    return rows.get(pk=person.pk)
