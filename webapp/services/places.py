"""Which system a person gets: the one with most free places, ties drawn by seed (R16)."""

from __future__ import annotations

import random

from django.db.models import F, QuerySet

from webapp.models import Campaign, Conversation, Item, Participation, QuotaCell, System
from webapp.services import items, quota
from webapp.services.plans import protocol_of


def has_room(campaign: Campaign) -> bool:
    """Tell whether anybody more can be placed; asked before any work is done."""
    if protocol_of(campaign).chat is None:
        return items.open_items(campaign).exists()
    return _free(campaign).exists()


def has_bot(campaign: Campaign) -> bool:
    """Tell whether a bot of the campaign has a free place."""
    return any(not cell.system.is_people for cell in _free(campaign))


def take(*, person: Participation, bots_only: bool = False) -> System | None:
    """Reserve a place for a person, inside the caller's transaction; None when all are taken.

    Whether a place is free is decided by the UPDATE that reserves it, never by what was read.
    """
    draw = random.Random(f"{person.campaign.seed}:{person.pk}:place")  # noqa: S311 (repeatable)
    cells = [cell for cell in _free(person.campaign) if not (bots_only and cell.system.is_people)]
    draw.shuffle(cells)
    for cell in sorted(cells, key=lambda one: -one.free):
        if quota.reserve(cell):
            person.system, person.holds_slot = cell.system, True
            person.save(update_fields=["system", "holds_slot"])
            return cell.system
    return None


def is_complete(campaign: Campaign) -> bool:
    """Tell whether everything that was wanted is there."""
    if protocol_of(campaign).chat is not None:
        cells = QuotaCell.objects.filter(system__campaign=campaign)
        return cells.exists() and not cells.filter(target__gt=F("completed")).exists()
    rows = Item.objects.filter(campaign=campaign)
    waiting = campaign.conversations.filter(
        purpose=Conversation.Purpose.CONTEXT, state=Conversation.State.OPEN
    )
    wanted = rows.kept().filter(target__gt=F("completed"))
    return rows.exists() and not wanted.exists() and not waiting.exists()


def _free(campaign: Campaign) -> QuerySet[QuotaCell]:
    return (
        QuotaCell.objects.filter(
            system__campaign=campaign, target__gt=F("reserved") + F("completed")
        )
        .select_related("system")
        .order_by("system_id")
    )
