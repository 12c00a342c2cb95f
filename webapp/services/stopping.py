"""How a participation ends before its time: by choice, by absence, with its campaign (S13, R21)."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction

from webapp.models import Assignment, Conversation, Event, Participation
from webapp.services import chat, delivery, events, flags, pairing, payment, personas, states

GRACE = timedelta(seconds=settings.PARTNER_GRACE)  # of a person whose partner waits
GONE = timedelta(minutes=30)  # of everybody else
P, Outcome = Participation.State, Participation.Outcome


class CameBack(Exception):
    """A sign of life arrived meanwhile: nothing is done."""


def has_worked(person: Participation) -> bool:
    """Tell whether a person has said or judged anything, which is always paid."""
    done = Assignment.objects.filter(participation=person, state=Assignment.State.DONE)
    said = Event.objects.filter(kind=Event.Kind.MESSAGE)
    sides = person.seats.values_list("conversation_id", "side")
    return done.exists() or any(
        said.filter(conversation_id=pk, side=side).exists() for pk, side in sides
    )


def outcome_of_stopping(person: Participation, now: datetime) -> str:
    """Return what stopping now would be: the page says beforehand what it means for pay."""
    if has_worked(person):
        return Outcome.QUIT
    return Outcome.NOBODY if pairing.choices(person, now) else Outcome.DECLINED


def stop(*, person: Participation, now: datetime) -> Participation:
    """Stop at once, on any screen; who has worked is paid. A repeat does nothing."""
    with transaction.atomic():
        chat.leave(person=person, now=now, because="stopped")
        person = _locked(person)
        if person.state == P.ENDED:
            return person
        outcome = outcome_of_stopping(person, now)
        if outcome == Outcome.QUIT:
            flags.raise_flag("stopped_early", campaign=person.campaign, participation=person)
        payment.settle(person=person, outcome=outcome, now=now)
        return person


def vanish(*, person: Participation, now: datetime) -> None:
    """Part a person who went silent from a waiting partner; they may start again."""
    with transaction.atomic():
        chat.leave(person=person, now=now, because="vanished")
        person = _locked(person)
        if person.state != P.CHATTING or person.seen_at >= now - GRACE:
            raise CameBack
        pairing.send_to_start(person, now, notice="away")


def give_away(*, person: Participation, now: datetime) -> None:
    """End a participation without a sign of life for long; their link lets them come back."""
    with transaction.atomic():
        chat.leave(person=person, now=now, because="left")
        person = _locked(person)
        if person.state == P.ENDED or person.seen_at >= now - GONE:
            raise CameBack
        payment.settle(person=person, outcome=Outcome.LEFT, now=now)


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
    personas.push_back_all(conversation)


def _locked(person: Participation) -> Participation:
    rows = Participation.objects.select_for_update(of=("self",), no_key=True).select_related(
        "campaign"
    )
    return rows.get(pk=person.pk)
