"""Counting towards a target: reserve, complete, release, each one conditional UPDATE (R16)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from django.db.models import F

from webapp.models import Item, QuotaCell

Counted = TypeVar("Counted", QuotaCell, Item)


def reserve(row: Counted) -> bool:
    """Reserve one place of a cell or item; False when there is none left."""
    rows = type(row)._default_manager.filter(pk=row.pk, target__gt=F("reserved") + F("completed"))
    return rows.update(reserved=F("reserved") + 1) == 1


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


def complete(row: Counted) -> None:
    """Turn a reservation into a completion."""
    rows = type(row)._default_manager.filter(pk=row.pk, reserved__gt=0)
    rows.update(reserved=F("reserved") - 1, completed=F("completed") + 1)


def release(row: Counted) -> None:
    """Give a reservation back."""
    rows = type(row)._default_manager.filter(pk=row.pk, reserved__gt=0)
    rows.update(reserved=F("reserved") - 1)


def withdraw(row: Counted) -> None:
    """Take a completion back: who did it has withdrawn."""
    rows = type(row)._default_manager.filter(pk=row.pk, completed__gt=0)
    rows.update(completed=F("completed") - 1)
