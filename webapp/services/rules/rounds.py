"""Rounds: the conversations of one participation, each with another system.

A round is a seat. It is over once its participant may go on; before that (a partner who never came,
an absence, a return) it is tried again under the same number.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from django.db.models import Case, F, Q, QuerySet, Value, When

from webapp.models import PEOPLE, Campaign, Participation, QuotaCell, Seat
from webapp.services.rules.protocols import protocol_of

Outcome = Participation.Outcome
OVER = (Outcome.COMPLETED, Outcome.PARTNER_LEFT)


def most(campaign: Campaign) -> int:
    """Return how many conversations a participant may have."""
    chat = protocol_of(campaign).chat
    return chat.conversations if chat else 1


@dataclass(frozen=True)
class Rounds:
    """Rounds of a participation, as of one look at its seats.

    over: how many are; it is also the number of the next one, from 0. seats: all of them, also of
    rounds that were tried again. current: the latest seat of the round that is not over, None
    before it begins. is_seated: whether a seat is still active.
    """

    over: int
    seats: int
    current: int | None
    is_seated: bool


def of(person: Participation) -> Rounds:
    """Look at the rounds of a person, by one statement."""
    rows = person.seats.order_by("pk").values_list("pk", "round", "outcome", "active")
    found = list(rows)
    over = sum(outcome in OVER for _, _, outcome, _ in found)
    current = [pk for pk, number, outcome, _ in found if number == over and outcome not in OVER]
    is_seated = any(active for *_, active in found)
    return Rounds(over, len(found), current[-1] if current else None, is_seated)


def done(person: Participation) -> int:
    """Count the rounds that are over."""
    return of(person).over


def close(person: Participation, outcome: str, known: Rounds | None = None) -> Rounds:
    """Note how the round that is not over ended; return the rounds as they then are.

    known: what this transaction has seen of the person's rounds.
    """
    known = known or of(person)
    if known.current is None:
        return known
    Seat.objects.filter(pk=known.current).update(outcome=outcome)
    return replace(known, over=known.over + 1, current=None) if outcome in OVER else known


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


def goes_on(person: Participation, over: int) -> bool:
    """Tell whether another round may follow those that are over."""
    campaign = person.campaign
    if campaign.state != Campaign.State.OPEN or not 0 < over < most(campaign):
        return False
    return cells_for(person).exists()
