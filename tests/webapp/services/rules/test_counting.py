"""Counted rows: each step moves one row by one, and never below zero (R16)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.factories import make_campaign
from webapp.models import QuotaCell
from webapp.services.rules import quota

pytestmark = pytest.mark.django_db
Counts = tuple[int, int]  # reserved, completed


def cells(reserved: int, completed: int, target: int = 3) -> tuple[QuotaCell, QuotaCell]:
    """Return a cell with these counts, and one beside it that nothing may change."""
    make_campaign(systems={"alpha": "parrot", "beta": "parrot"}, personas=0)
    QuotaCell.objects.update(target=target, reserved=reserved, completed=completed)
    one, beside = QuotaCell.objects.order_by("pk")
    return one, beside


def counts(cell: QuotaCell) -> Counts:
    cell.refresh_from_db()
    return cell.reserved, cell.completed


def test_places_are_given_until_the_target_and_no_further() -> None:
    """R16: two of three, three of three, and then none."""
    one, beside = cells(1, 0)
    assert [quota.reserve(one) for _ in range(3)] == [True, True, False]
    assert counts(one) == (3, 0)
    assert counts(beside) == (1, 0)


@pytest.mark.parametrize(
    ("step", "before", "after"),
    [
        (quota.complete, (1, 1), (0, 2)),
        (quota.complete, (2, 0), (1, 1)),
        (quota.complete, (0, 2), (0, 2)),  # nothing was reserved
        (quota.release, (1, 1), (0, 1)),
        (quota.release, (2, 1), (1, 1)),
        (quota.release, (0, 1), (0, 1)),
        (quota.withdraw, (1, 1), (1, 0)),
        (quota.withdraw, (0, 2), (0, 1)),
        (quota.withdraw, (1, 0), (1, 0)),
    ],
)
def test_a_step_moves_one_row_by_one_and_never_below_zero(
    step: Callable[[QuotaCell], None], before: Counts, after: Counts
) -> None:
    """R16, R21: what is completed, given back or withdrawn is counted once, in its own row."""
    one, beside = cells(*before)
    step(one)
    assert counts(one) == after
    assert counts(beside) == before
