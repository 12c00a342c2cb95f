"""Counting towards a target: reserve, complete, release, each one conditional UPDATE (R16).

A slot of a system is held by a participation. Where one of two people rates, their slots stand and
fall together: the rater holds both, so that their conversation counts as two once its rating is
there, and before that not at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from django.db.models import F

from webapp.models import Conversation, Item, Participation, QuotaCell, Seat

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
    rows = type(row)._default_manager.filter(pk=row.pk, reserved__gte=count)
    rows.update(reserved=F("reserved") - count, completed=F("completed") + count)


def release(row: Counted, count: int = 1) -> None:
    """Give a reservation back."""
    rows = type(row)._default_manager.filter(pk=row.pk, reserved__gte=count)
    rows.update(reserved=F("reserved") - count)


def withdraw(row: Counted, count: int = 1) -> None:
    """Take a completion back: who did it has withdrawn."""
    rows = type(row)._default_manager.filter(pk=row.pk, completed__gte=count)
    rows.update(completed=F("completed") - count)


# --- slots that people hold ---------------------------------------------------------------------


def give_back(person: Participation, *, counts: bool = False) -> None:
    """Settle what a person holds, once: completed where it counts, else free again."""
    rows = Participation.objects.filter(pk=person.pk)
    held = rows.filter(holds_slot=True).update(holds_slot=False)
    person.holds_slot = False
    if not held or person.system_id is None:
        return
    cell = QuotaCell.objects.select_related("system").get(system_id=person.system_id)
    if cell.system.is_people:
        held += rows.filter(holds_partners_slot=True).update(holds_partners_slot=False)
    complete(cell, held) if counts else release(cell, held)


def leave_to_rater(seat: Seat, partner: Seat, *, counts: bool) -> None:
    """Let the one who rates of two people hold both slots, as their conversation ends.

    seat: of somebody who goes on. counts: whether the conversation will count once it is rated.
    Where the rater has left, or it will not count, the other one's slot is free again.
    """
    if seat.rates == partner.rates or None in (seat.participation_id, partner.participation_id):
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
    return True


def uncount(seat: Seat) -> None:
    """Take back what a seat counted: its participant has withdrawn.

    A rating stays where only the partner who was rated withdraws, and with it what it counted.
    """
    if count := _needed(seat):
        withdraw(QuotaCell.objects.get(system=seat.conversation.system_id), count)


def _needed(seat: Seat) -> int:
    """Return how many slots a seat settles: two of who alone rates, and none of the partner."""
    partner = _partner(seat)
    if partner is None or partner.rates == seat.rates:
        return 1
    return 2 if seat.rates else 0


def _partner(seat: Seat) -> Seat | None:
    """Return the seat of the other person; None for a bot's."""
    people = Seat.objects.filter(conversation=seat.conversation_id, participation__isnull=False)
    return people.exclude(pk=seat.pk).first()


def _hand_over(other: Seat, rater: Seat) -> None:
    rows = Participation.objects.filter(pk=other.participation_id or 0, holds_slot=True)
    if rows.update(holds_slot=False):
        Participation.objects.filter(pk=rater.participation_id or 0).update(
            holds_partners_slot=True
        )
