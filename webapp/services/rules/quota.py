"""Counting towards a target: reserve, complete, release, each one conditional UPDATE (R16).

A slot of a system is held by a participation. Of two people their slots stand and fall together:
who is still to rate holds both, so that their conversation counts as two once all its ratings are
there, and before that not at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from django.db.models import F, QuerySet, Subquery

from webapp.models import Conversation, Item, Participation, QuotaCell, Seat
from webapp.services.rules.protocols import protocol_of

Counted = TypeVar("Counted", QuotaCell, Item)


def reserve(row: Counted, count: int = 1) -> bool:
    """Reserve one place of a cell or item, or so many; False when there are too few left."""
    known, left = type(row)._default_manager, F("reserved") + F("completed") + count
    return known.filter(pk=row.pk, target__gte=left).update(reserved=F("reserved") + count) == 1


def reserve_each(rows: Sequence[Counted]) -> set[int]:
    """Reserve a place of each row that has one left, in a transaction; return which, by number.

    Rows are locked in the order of their numbers, so that nobody waits in a circle.
    """
    if not rows:
        return set()
    known = type(rows[0])._default_manager
    locked = known.filter(pk__in=[row.pk for row in rows]).order_by("pk").select_for_update()
    counts = locked.values_list("pk", "target", "reserved", "completed")
    left = {pk for pk, target, reserved, completed in counts if target > reserved + completed}
    known.filter(pk__in=left).update(reserved=F("reserved") + 1)
    return left


def complete(row: Counted, count: int = 1) -> None:
    """Turn a reservation into a completion."""
    _complete(type(row)._default_manager.filter(pk=row.pk), count)


def _complete(rows: QuerySet[Counted], count: int) -> None:
    held = rows.filter(reserved__gte=count)
    held.update(reserved=F("reserved") - count, completed=F("completed") + count)


def release(row: Counted, count: int = 1) -> None:
    """Give a reservation back."""
    _release(type(row)._default_manager.filter(pk=row.pk), count)


def _release(rows: QuerySet[Counted], count: int) -> None:
    rows.filter(reserved__gte=count).update(reserved=F("reserved") - count)


def withdraw(row: Counted, count: int = 1) -> None:
    """Take a completion back: who did it has withdrawn."""
    rows = type(row)._default_manager.filter(pk=row.pk, completed__gte=count)
    rows.update(completed=F("completed") - count)


# --- slots that people hold ---------------------------------------------------------------------


def locked(person: Participation) -> Participation:
    """Return a person who rates with their row locked, and that of a partner: lower number first.

    Each settles what the other holds, so two who rate at the same time would wait in a circle.
    """
    keys = {person.pk}
    if protocol_of(person.campaign).pairs_people:
        last = person.seats.order_by("-pk").values("conversation")[:1]
        beside = Seat.objects.filter(conversation=Subquery(last), participation__isnull=False)
        keys |= set(beside.values_list("participation", flat=True))
    rows = Participation.objects.filter(pk__in=keys).order_by("pk")
    rows = rows.select_for_update(no_key=True, of=("self",))
    return {row.pk: row for row in rows.select_related("campaign", "system")}[person.pk]


def give_back(person: Participation, *, counts: bool = False) -> None:
    """Settle what a person holds, once: completed where it counts, else free again.

    One of two people who both rate passes their slot to the other where that one is still to rate.
    Where the other has left, one rating of two is there: the slot is free again.
    """
    rows = Participation.objects.filter(pk=person.pk)
    held = rows.filter(holds_slot=True).update(holds_slot=False)
    person.holds_slot = False
    if not held or person.system is None:
        return
    if person.system.is_people:
        held += rows.filter(holds_partners_slot=True).update(holds_partners_slot=False)
        partner = _other_rater(person) if counts and held == 1 else None
        if partner is not None and _pass_to(partner):
            return
        counts = counts and (partner is None or _is_rated(partner))
    cell = QuotaCell.objects.filter(system=person.system_id)
    _complete(cell, held) if counts else _release(cell, held)


def leave_to_rater(seat: Seat, partner: Seat, *, counts: bool) -> None:
    """Let the one who rates of two people hold both slots, as their conversation ends.

    seat: of somebody who goes on. counts: whether the conversation will count once it is rated.
    Where the rater has left, or it will not count, the other one's slot is free again. Where both
    rate, who goes on holds both once the other one has left a conversation that counts.
    """
    if None in (seat.participation_id, partner.participation_id):
        return
    if seat.rates == partner.rates:
        if counts and seat.conversation.state == Conversation.State.ABANDONED:
            _hand_over(partner, seat)
        return
    rater, other = (seat, partner) if seat.rates else (partner, seat)
    stays = seat.rates or seat.conversation.state == Conversation.State.FINISHED
    if counts and stays:
        _hand_over(other, rater)
    elif not seat.rates and seat.participation is not None:
        give_back(seat.participation)


def take_again(person: Participation, seat: Seat) -> bool:
    """Reserve what a conversation of theirs needs that they come back to rate; False where full."""
    count = _needed(seat)
    if person.system is None or not reserve(person.system.cell, count):
        return False
    rows = Participation.objects.filter(pk=person.pk)
    rows.update(holds_slot=True, holds_partners_slot=count > 1)
    Seat.objects.filter(pk=seat.pk).update(outcome="")
    return True


def uncount(seat: Seat) -> None:
    """Take back what a seat counted: its participant has withdrawn.

    A rating stays where only the partner who was rated withdraws, and with it what it counted.
    Where both rate, the first of the two who withdraws takes back both slots.
    """
    cell, partner = QuotaCell.objects.get(system=seat.conversation.system_id), _partner(seat)
    if partner is None or partner.rates != seat.rates:
        withdraw(cell, _needed(seat))
        return
    if _is_still_to_rate(partner):
        rows = Participation.objects.filter(
            pk=partner.participation_id or 0, holds_partners_slot=True
        )
        release(cell, rows.update(holds_partners_slot=False))
    elif _is_rated(partner) or seat.outcome == Participation.Outcome.PARTNER_LEFT:
        withdraw(cell, 2)


def _needed(seat: Seat) -> int:
    """Return how many slots a rating settles: two of who rates alone, or as the last of two."""
    partner = _partner(seat)
    if partner is None:
        return 1
    if partner.rates == seat.rates:
        return 2 if _is_rated(partner) else 1
    return 2 if seat.rates else 0


def _other_rater(person: Participation) -> Seat | None:
    """Return the partner's seat in the whole conversation that a person ends, where both rate."""
    seat = _last_seat(person)
    if seat is None or seat.conversation.state != Conversation.State.FINISHED:
        return None
    partner = _partner(seat) if seat.conversation.system_id == person.system_id else None
    return partner if partner is not None and partner.rates == seat.rates else None


def _last_seat(person: Participation) -> Seat | None:
    return person.seats.select_related("conversation").order_by("pk").last()


def _is_still_to_rate(seat: Seat) -> bool:
    return not seat.outcome


def _is_rated(seat: Seat) -> bool:
    """Tell whether the participant of a seat is through with it, and has not withdrawn."""
    is_over = seat.outcome == Participation.Outcome.COMPLETED
    return is_over and seat.participation is not None and seat.participation.withdrawn_at is None


def _pass_to(partner: Seat) -> bool:
    """Let somebody who is still to rate, and holds their own slot, hold their partner's as well."""
    rows = Participation.objects.filter(pk=partner.participation_id or 0, holds_slot=True)
    return _is_still_to_rate(partner) and rows.update(holds_partners_slot=True) == 1


def _partner(seat: Seat) -> Seat | None:
    """Return the seat of the other person; None for a bot's."""
    people = Seat.objects.filter(conversation=seat.conversation_id, participation__isnull=False)
    return people.exclude(pk=seat.pk).select_related("participation").first()


def _hand_over(other: Seat, rater: Seat) -> None:
    rows = Participation.objects.filter(pk=other.participation_id or 0, holds_slot=True)
    if rows.update(holds_slot=False):
        Participation.objects.filter(pk=rater.participation_id or 0).update(
            holds_partners_slot=True
        )
