"""Two present waiters become a conversation, after both answered a ready check (R17, R18)."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import QuerySet

from webapp.models import Campaign, Conversation, Participation, Seat, System
from webapp.services import events, opening, payment, personas, places, states

PRESENT = timedelta(seconds=10)  # since the last sign of life; waiting pages give one every 2 s
P, C = Participation.State, Conversation.State


class NotNow(Exception):
    """This choice is not open to the person now."""

    notice = "not_now"


def match(*, campaign: Campaign, now: datetime) -> list[Conversation]:
    """Seat present waiters in pairs, first come first; each pair is one transaction."""
    made: list[Conversation] = []
    if campaign.state != Campaign.State.OPEN:
        return made
    for system in campaign.systems.all():
        if system.is_people:
            while pair := _match_two(system, now):
                made.append(pair)
    return made


def _match_two(system: System, now: datetime) -> Conversation | None:
    try:
        with transaction.atomic():
            present = _present(system, now).select_for_update(
                skip_locked=True, no_key=True, of=("self",)
            )
            two = list(present[:2])
            if len(two) < 2:
                return None
            for person in sorted(two, key=lambda one: one.pk):
                states.move(person, "match", state_at=now, notice="")
            return opening.open_with_person(first=two[0], second=two[1], system=system, now=now)
    except states.Illegal:  # somebody else matched one of them: nothing of this pair is kept
        return None


def _present(system: System, now: datetime) -> QuerySet[Participation]:
    rows = Participation.objects.filter(system=system, state=P.WAITING, seen_at__gte=now - PRESENT)
    return rows.select_related("campaign").order_by("waiting_at", "pk")


def expire_checks(*, now: datetime) -> int:
    """End the ready checks that were not answered in time; return how many."""
    late = Conversation.objects.filter(state=C.CHECKING, deadline_at__lt=now)
    return sum(_expire(pk, now) for pk in late.values_list("pk", flat=True))


def _expire(pk: int, now: datetime) -> bool:
    with transaction.atomic():
        conversation = events.lock(pk)
        if conversation.state != C.CHECKING:
            return False
        states.move(conversation, "abandon", ended_at=now, ended_because="ready check")
        personas.push_back_all(conversation)
        seats = list(conversation.seats.select_related("participation__campaign"))
        conversation.seats.update(active=False)
        for seat in sorted(seats, key=lambda one: one.participation_id or 0):
            _send_back(seat, now)
        return True


def _send_back(seat: Seat, now: datetime) -> None:
    """Who was there keeps their place in the queue; who was not begins again."""
    person = seat.participation
    if person is None or person.state != P.MATCHED:
        return
    if seat.ready_at is not None:
        states.move(person, "requeue", state_at=now, notice="partner_missed")
        return
    send_to_start(person, now, notice="missed")


def send_to_start(person: Participation, now: datetime, *, notice: str) -> None:
    """Let a person who was away begin again; their place is free for somebody else."""
    payment.give_back_slot(person)
    states.move(person, "miss", state_at=now, notice=notice, waiting_at=None, system=None)


def waited(person: Participation, now: datetime) -> float:
    """Return the seconds a person has waited since they joined the queue."""
    return (now - person.waiting_at).total_seconds() if person.waiting_at else 0.0


def choices(person: Participation, now: datetime) -> tuple[str, ...]:
    """Return what who waited in vain may choose; empty before the countdown's end."""
    if person.state != P.WAITING or waited(person, now) < person.campaign.wait_seconds:
        return ()
    bot = person.campaign.bot_when_alone and places.has_bot(person.campaign)
    return ("bot", "give_up") if bot else ("give_up",)


def take_bot(*, person: Participation, now: datetime) -> Participation:
    """Go on with a bot after waiting in vain; a repeat does nothing."""
    with transaction.atomic():
        person = _locked(person)
        if person.state == P.CHATTING:
            return person
        if "bot" not in choices(person, now):
            raise NotNow(f"participation {person.pk} may not take a bot")
        payment.give_back_slot(person)
        system = places.take(person=person, bots_only=True)
        if system is None:  # the last bot's place went in this moment: go on waiting
            raise NotNow(f"no bot of campaign {person.campaign_id} is free")
        opening.open_with_bot(person=person, system=system, now=now)
        return person


def give_up(*, person: Participation, now: datetime) -> Participation:
    """Leave with waiting pay after waiting in vain; a repeat does nothing."""
    with transaction.atomic():
        person = _locked(person)
        if person.state == P.ENDED:
            return person
        if "give_up" not in choices(person, now):
            raise NotNow(f"participation {person.pk} may not leave with waiting pay yet")
        payment.settle(person=person, outcome=Participation.Outcome.NOBODY, now=now)
        return person


def _locked(person: Participation) -> Participation:
    rows = Participation.objects.select_for_update(of=("self",), no_key=True).select_related(
        "campaign"
    )
    return rows.get(pk=person.pk)
