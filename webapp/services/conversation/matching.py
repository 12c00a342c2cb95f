"""Two present waiters become a conversation, after both answered a ready check (R17, R18)."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import QuerySet

from webapp.models import Campaign, Conversation, Participation, Seat, System
from webapp.services.conversation import allocation, entrance, opening
from webapp.services.rules import (
    events,
    ledger,
    payment,
    persona_stack,
    quota,
    states,
    uptime,
)
from webapp.services.rules.protocols import protocol_of

PRESENT = timedelta(seconds=10)  # since the last sign of life; waiting pages give one every 2 s
P, C = Participation.State, Conversation.State


class NotWaiting(Exception):
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
    due = _present(now).filter(campaign=campaign, partner_at__lte=now)
    return [*made, *(found for one in due if (found := match_with_bot(person=one, now=now)))]


def match_with_bot(*, person: Participation, now: datetime) -> Conversation | None:
    """Let a bot come to a person, present now, whose drawn wait is over.

    It came when the wait was over: how late that is noticed would tell it from a person.
    """
    if person.partner_at is None or person.partner_at > now:
        return None
    with transaction.atomic():
        row = _locked(person)
        is_due = row.state == P.WAITING and row.campaign.state == Campaign.State.OPEN
        if not is_due or row.system is None or row.partner_at != person.partner_at:
            return None
        was_away = now - row.partner_at > PRESENT
        return _ask_before_bot(row, row.system, now if was_away else row.partner_at)


def _ask_before_bot(person: Participation, system: System, at: datetime) -> Conversation:
    since = person.state_at
    states.move(person, "match", state_at=at, notice="")
    conversation = opening.ask_before_bot(person=person, system=system, at=at)
    _note_wait(conversation, person, since, at)
    return conversation


def _note_wait(
    conversation: Conversation, person: Participation, since: datetime, at: datetime
) -> None:
    """Keep how long a person was in the queue this time: bots' waits are drawn from these."""
    seats = conversation.seats.filter(participation=person)
    seats.update(seconds_waiting=max(0.0, (at - since).total_seconds()))


def _match_two(system: System, now: datetime) -> Conversation | None:
    try:
        with transaction.atomic():
            present = (
                _present(now)
                .filter(system=system)
                .select_for_update(skip_locked=True, no_key=True, of=("self",))
            )
            two = _first_two(present)
            if not two:
                return None
            since = [person.state_at for person in two]
            for person in sorted(two, key=lambda one: one.pk):
                states.move(person, "match", state_at=now, notice="")
            first, second = two
            made = opening.open_with_person(first=first, second=second, system=system, now=now)
            for person, at in zip(two, since, strict=True):
                _note_wait(made, person, at, now)
            return made
    except states.Illegal:  # somebody else matched one of them: nothing of this pair is kept
        return None


def _first_two(present: QuerySet[Participation]) -> list[Participation]:
    """Return the two who wait longest, and may: partners whose personas fit come first."""
    first = present.first()
    if first is None:
        return []
    others = present.exclude(pk=first.pk)
    second = _fitting(first, others).first() or others.first()
    return [first, second] if second else []


def _fitting(first: Participation, others: QuerySet[Participation]) -> QuerySet[Participation]:
    """Return those whose persona differs, and is of the same group where a brief asks for it."""
    chat = protocol_of(first.campaign).chat
    if first.persona is None or chat is None:
        return others
    differing = others.exclude(persona=first.persona)
    if chat.brief is None or not chat.brief.one_group:
        return differing
    return differing.filter(persona__group=first.persona.group)


def _present(now: datetime) -> QuerySet[Participation]:
    rows = Participation.objects.filter(state=P.WAITING, seen_at__gte=now - PRESENT)
    return rows.select_related("campaign", "persona").order_by("waiting_at", "pk")


def expire_checks(*, now: datetime) -> int:
    """End the ready checks that were not answered in time; return how many."""
    passed = uptime.known(now).overdue(timedelta(seconds=entrance.READY_SECONDS))
    late = Conversation.objects.filter(state=C.CHECKING, deadline_at__lt=passed)
    return sum(_expire(pk, now) for pk in late.values_list("pk", flat=True))


def _expire(pk: int, now: datetime) -> bool:
    with transaction.atomic():
        conversation = events.lock(pk)
        if conversation.state != C.CHECKING:
            return False
        states.move(conversation, "abandon", ended_at=now, ended_because=entrance.MISSED)
        persona_stack.push_back_all(conversation)
        seats = list(
            conversation.seats.select_related(
                "participation__campaign", "participation__system", "persona"
            )
        )
        conversation.seats.update(active=False)
        for seat in sorted(seats, key=lambda one: one.participation_id or 0):
            _send_back(seat, now)
        return True


def _send_back(seat: Seat, now: datetime) -> None:
    """Keep the queue position of a participant who confirmed; requeue the other at the end."""
    person = seat.participation
    if person is None or person.state != P.MATCHED:
        return
    if seat.ready_at is not None:
        partner_at = entrance.partner_at(person, now)
        states.move(person, "requeue", state_at=now, notice="partner_missed", partner_at=partner_at)
        persona_stack.keep(person, seat)
        return
    send_to_start(person, now, notice="missed")


def send_to_start(person: Participation, now: datetime, *, notice: str) -> None:
    """Let a person who was away begin again; slot and pay are free for somebody else.

    What they are owed for work of before stays reserved.
    """
    quota.give_back(person)
    states.move(person, "miss", state_at=now, notice=notice, waiting_at=None, system=None)
    persona_stack.hold(person)
    if payment.due(person, Participation.Outcome.QUIT) is None:
        ledger.release(person)


def seconds_waiting(person: Participation, now: datetime) -> float:
    """Return the seconds since the person joined the queue, while there was one."""
    since = person.waiting_at
    return uptime.without_grace(now).since(since).total_seconds() if since else 0.0


def choices(person: Participation, now: datetime) -> tuple[str, ...]:
    """Return the options for a participant whose wait timed out; none before the timeout."""
    if person.state != P.WAITING or not _is_wait_over(person, now):
        return ()
    bot = person.campaign.bot_when_alone and allocation.has_bot(person)
    return ("bot", "give_up") if bot else ("give_up",)


def _is_wait_over(person: Participation, now: datetime) -> bool:
    most = person.campaign.wait_seconds
    is_long = person.waiting_at is not None and (now - person.waiting_at).total_seconds() >= most
    return is_long and seconds_waiting(person, now) >= most


def take_bot(*, person: Participation, now: datetime) -> Participation:
    """Go on to a bot's ready check after the wait timed out; a repeat does nothing."""
    with transaction.atomic():
        person = _locked(person)
        if person.state in (P.MATCHED, P.CHATTING):
            return person
        if "bot" not in choices(person, now):
            raise NotWaiting(f"participation {person.pk} may not take a bot")
        quota.give_back(person)
        system = allocation.take(person=person, bots_only=True)
        if system is None:  # the last bot's slot went in this moment: go on waiting
            raise NotWaiting(f"no bot of campaign {person.campaign_id} is free")
        _ask_before_bot(person, system, now)
        return person


def give_up(*, person: Participation, now: datetime) -> Participation:
    """Leave with waiting pay after the wait timed out; a repeat does nothing."""
    with transaction.atomic():
        person = _locked(person)
        if person.state == P.ENDED:
            return person
        if "give_up" not in choices(person, now):
            raise NotWaiting(f"participation {person.pk} may not leave with waiting pay yet")
        payment.settle(person=person, outcome=Participation.Outcome.NOBODY, now=now)
        return person


def _locked(person: Participation) -> Participation:
    rows = Participation.objects.select_for_update(of=("self",), no_key=True)
    return rows.select_related("campaign", "system").get(pk=person.pk)
