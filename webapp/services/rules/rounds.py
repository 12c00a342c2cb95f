"""Rounds: the conversations of one participation, each with another system.

A round is a seat. It is over once its participant may go on; before that (a partner who never came,
an absence, a return) it is tried again under the same number.
"""

from __future__ import annotations

from django.db.models import Case, F, Q, QuerySet, Value, When

from webapp.models import PEOPLE, Campaign, Participation, QuotaCell, Seat
from webapp.services.rules.protocols import protocol_of

Outcome = Participation.Outcome
OVER = (Outcome.COMPLETED, Outcome.PARTNER_LEFT)


def most(campaign: Campaign) -> int:
    """Return how many conversations a participant may have."""
    chat = protocol_of(campaign).chat
    return chat.conversations if chat else 1


def done(person: Participation) -> int:
    """Count the rounds that are over; it is also the number of the next one, from 0."""
    return person.seats.filter(outcome__in=OVER).count()


def current(person: Participation) -> Seat | None:
    """Return the latest seat of the round that is not over; None before it begins."""
    seats = person.seats.filter(round=done(person)).exclude(outcome__in=OVER)
    return seats.order_by("pk").last()


def close(person: Participation, outcome: str) -> None:
    """Note how the round that is not over ended."""
    seat = current(person)
    if seat is not None:
        Seat.objects.filter(pk=seat.pk).update(outcome=outcome)


def open_cells(campaign: Campaign) -> QuerySet[QuotaCell]:
    """Return the cells that have a free slot."""
    cells = wanted_of(campaign).filter(Q(wanted__gt=F("reserved") + F("completed")))
    return cells.select_related("system").order_by("system_id")


def wanted_of(campaign: Campaign) -> QuerySet[QuotaCell]:
    """Return the cells of a campaign with what can be `wanted` of each.

    Of people that is an even number: a last one would wait for nobody.
    """
    odd = F("target") % 2 if protocol_of(campaign).pairs_people else Value(0)
    alone = Case(When(system__bot=PEOPLE, then=odd), default=Value(0))
    return QuotaCell.objects.filter(system__campaign=campaign).annotate(wanted=F("target") - alone)


def cells_for(person: Participation) -> QuerySet[QuotaCell]:
    """Return the cells with a free slot whose system the participant has not met."""
    met = person.seats.filter(outcome__in=OVER).values("conversation__system")
    return open_cells(person.campaign).exclude(system__in=met)


def goes_on(person: Participation) -> bool:
    """Tell whether another round may follow."""
    campaign = person.campaign
    if campaign.state != Campaign.State.OPEN or not 0 < done(person) < most(campaign):
        return False
    return cells_for(person).exists()
