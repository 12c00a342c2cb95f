"""Allocation of people to systems: most free slots first, rounds in balance (R16)."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from typing import Any

from django.db.models import Count, F, Q

from webapp.models import (
    Campaign,
    Contribution,
    Conversation,
    Item,
    Participation,
    QuotaCell,
    Seat,
    System,
)
from webapp.services.rating import items
from webapp.services.rules import quota, rounds, states
from webapp.services.rules.protocols import protocol_of

BEGUN = (Conversation.State.CHECKING, Conversation.State.OPEN, Conversation.State.FINISHED)


def has_capacity(campaign: Campaign) -> bool:
    """Tell whether one more participant fits; checked before any work is done."""
    if protocol_of(campaign).chat is None:
        return items.open_items(campaign).exists()
    return rounds.open_cells(campaign).exists()


def has_bot(person: Participation) -> bool:
    """Tell whether a bot that a person has not met has a free slot."""
    return any(not cell.system.is_people for cell in rounds.cells_for(person))


def take(*, person: Participation, bots_only: bool = False) -> System | None:
    """Reserve a slot for a person, inside the caller's transaction; None when all are taken."""
    slot = reserve(person, rounds.of(person), bots_only=bots_only)
    if slot is None:
        return None
    person.save(update_fields=[*slot])
    return person.system


def reserve(
    person: Participation, known: rounds.Rounds, *, bots_only: bool = False
) -> dict[str, Any] | None:
    """Reserve a slot; return what the person's row has then, which the caller stores.

    Whether a slot is free is decided by the UPDATE that reserves it, never by what was read.
    known: what this transaction has seen of the person's rounds.
    """
    number = known.over
    free = rounds.cells_for(person)
    cells = [cell for cell in free if not (bots_only and cell.system.is_people)]
    for cell in _ranked(cells, person, number):
        if quota.reserve(cell):
            person.system, person.holds_slot = cell.system, True
            person.planned = _with_next(person, number, cell.system_id)
            return {"system": cell.system, "holds_slot": True, "planned": person.planned}
    return None


def is_complete(campaign: Campaign) -> bool:
    """Tell whether everything that was wanted is there."""
    if protocol_of(campaign).chat is not None:
        cells = rounds.wanted_of(campaign)
        return cells.exists() and not cells.filter(Q(wanted__gt=F("completed"))).exists()
    rows = Item.objects.filter(campaign=campaign)
    waiting = campaign.conversations.filter(
        purpose=Conversation.Purpose.CONTEXT, state=Conversation.State.OPEN
    )
    wanted = rows.kept().filter(target__gt=F("completed"))
    undecided = Contribution.objects.filter(
        assignment__item__campaign=campaign, state=Contribution.State.OFFERED
    )
    return rows.exists() and not any(each.exists() for each in (wanted, waiting, undecided))


def _ranked(cells: list[QuotaCell], person: Participation, number: int) -> Sequence[QuotaCell]:
    """Return cells in the order in which they are tried for the round of a number."""
    draw = random.Random(  # noqa: S311 (repeatable)
        f"{person.campaign.seed}:{person.pk}:place{number or ''}"
    )
    draw.shuffle(cells)
    ranked = sorted(cells, key=lambda cell: -cell.free)
    if not ranked or rounds.most(person.campaign) == 1:
        return ranked
    systems = {cell.system_id for cell in ranked}
    if not set(person.planned[number : number + 1]) & systems:
        person.planned = [*person.planned[:number], *_plan(ranked, person, number, draw)]
    return sorted(ranked, key=lambda cell: cell.system_id != person.planned[number])


def _with_next(person: Participation, number: int, system: int) -> list[int]:
    """Return the person's order with this system next."""
    return [*person.planned[:number], system, *(s for s in person.planned[number:] if s != system)]


def _plan(
    cells: Sequence[QuotaCell], person: Participation, now: int, draw: random.Random
) -> list[int]:
    """Return the systems of the rounds to come, in an order that keeps all rounds in balance.

    now: the number of the next one.

    Each system takes the rounds that it has been in, or is planned for, least by its target (a
    minimal assignment); next counts which has most free slots, then the draw. Where everybody
    meets all systems, the conversations of a system then differ by one at most between rounds.
    """
    from scipy.optimize import linear_sum_assignment  # a tenth of a second, for such designs alone

    # Of two people who begin at the same time the second sees the first one's order.
    campaign = Campaign.objects.select_for_update(no_key=True).get(pk=person.campaign_id)
    counts = _by_round(campaign, besides=person)
    left = range(now, now + min(rounds.most(campaign) - now, len(cells)))
    cost = [[_cost(cell, counts[each, cell.system_id], draw) for cell in cells] for each in left]
    _, columns = linear_sum_assignment(cost)
    return [cells[int(column)].system_id for column in columns]


def _cost(cell: QuotaCell, count: int, draw: random.Random) -> float:
    used = count - cell.free / (cell.target + 1) / 10 + draw.random() / 1000
    return used / cell.target


def _by_round(campaign: Campaign, *, besides: Participation) -> Counter[tuple[int, int]]:
    """Count the conversations of people, begun or planned, by round and system."""
    seats = Seat.objects.filter(
        participation__campaign=campaign,
        conversation__purpose=Conversation.Purpose.STUDY,
        conversation__state__in=BEGUN,
    )
    rows = seats.values_list("round", "conversation__system").annotate(Count("pk")).order_by()
    counts = Counter({(number, system): count for number, system, count in rows})
    here = campaign.participations.filter(state__in=states.ACTIVE).exclude(pk=besides.pk)
    begun = Count("seats", filter=Q(seats__conversation__state__in=BEGUN))
    for planned, first in here.annotate(begun=begun).values_list("planned", "begun"):
        counts.update(enumerate(planned[first:], start=first))
    return counts
