"""Two people who both rate: their slots stand and fall together, whoever leaves (R16, R21)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.webapp.views import test_one_side_rates as one_side
from tests.webapp.views.test_one_side_rates import (
    cell,
    chatted,
    is_paid,
    met,
    rate,
    rated,
    speak,
    state_after,
    stop,
    vanish,
    withdraw,
)
from tests.webapp.views.visiting import Visit
from webapp import notices
from webapp.models import Campaign

pytestmark = pytest.mark.django_db


def people(target: int, **changes: Any) -> Campaign:
    """Return a campaign in which both of two people rate."""
    both = {"chat.minimum": [2], "rate.sides": "both"}
    return one_side.people(target, changes=both, **changes)


def whole(campaign: Campaign) -> None:
    """Let a pair chat and rate."""
    for each in chatted(campaign):
        rate(each)


@pytest.mark.parametrize("fate", [vanish, stop])
@pytest.mark.parametrize("is_first", [True, False])
def test_no_single_slot_is_left_by_who_leaves_without_rating(
    fate: Callable[[Visit], None], is_first: bool
) -> None:
    """One rating of two is paid and kept, and the two that were asked for come all the same."""
    campaign = people(2)
    stays, leaves = chatted(campaign)
    if not is_first:
        rate(stays)
        assert cell() == (2, 0), "who is still to rate holds both"
    fate(leaves)
    if is_first:
        rate(stays)
    assert (cell(), rated(), state_after(campaign)) == ((0, 0), 1, "OPEN")
    assert is_paid(stays.person)
    whole(campaign)
    assert (cell(), rated(), state_after(campaign)) == ((0, 2), 3, "CLOSED")


def test_a_pair_counts_as_two_once_both_have_rated() -> None:
    campaign = people(4)
    first, second = chatted(campaign)
    rate(first)
    assert (cell(), is_paid(first.person)) == ((2, 0), True)
    rate(second)
    assert (cell(), is_paid(second.person)) == ((0, 2), True)
    assert state_after(campaign) == "OPEN"
    whole(campaign)
    assert (cell(), state_after(campaign)) == ((0, 4), "CLOSED")


@pytest.mark.parametrize(("target", "wanted"), [(1, 0), (3, 2)])
def test_of_an_odd_number_the_last_one_would_wait_for_nobody(target: int, wanted: int) -> None:
    campaign = people(target)
    for _pair in range(wanted // 2):
        whole(campaign)
    assert notices.text("full") in Visit(campaign).join().content.decode()
    assert (cell(), state_after(campaign)) == ((0, wanted), "CLOSED")


@pytest.mark.parametrize("rates_first", [True, False])
def test_who_comes_back_to_rate_makes_the_pair_whole(rates_first: bool) -> None:
    campaign = people(2)
    stays, leaves = chatted(campaign)
    vanish(leaves)
    if rates_first:
        rate(stays)
        assert cell() == (0, 0)
    leaves.join()
    assert (leaves.person.state, cell()) == ("RATING", (2, 0))
    if not rates_first:
        rate(stays)
        assert cell() == (2, 0)
    rate(leaves)
    assert (cell(), rated(), state_after(campaign)) == ((0, 2), 2, "CLOSED")
    assert is_paid(leaves.person)


def test_both_leave_and_both_come_back() -> None:
    campaign = people(2)
    two = chatted(campaign)
    for each in two:
        vanish(each)
    assert cell() == (0, 0)
    for each in two:
        each.join()
        rate(each)
    assert (cell(), rated(), state_after(campaign)) == ((0, 2), 2, "CLOSED")


def test_a_withdrawal_takes_back_both_slots_once() -> None:
    campaign = people(4)
    first, second = chatted(campaign)
    rate(first)
    rate(second)
    assert cell() == (0, 2)
    for each in (first, second):
        withdraw(each)
        assert cell() == (0, 0)


def test_who_rates_after_a_withdrawal_is_paid_and_leaves_no_single_slot() -> None:
    campaign = people(2)
    first, second = chatted(campaign)
    rate(first)
    withdraw(first)
    assert cell() == (1, 0)
    rate(second)
    assert (cell(), rated(), is_paid(second.person)) == ((0, 0), 1, True)
    withdraw(second)
    assert cell() == (0, 0)


@pytest.mark.parametrize("counts", [True, False])
def test_a_conversation_that_was_left_counts_whole_or_not_at_all(counts: bool) -> None:
    campaign = people(2, partner_left_counts=counts)
    two = met(campaign)
    first_side = two[0].person.seats.get().conversation.first_side
    speak(*sorted(two, key=lambda each: each.person.seats.get().side != first_side))
    stop(two[0])
    assert cell() == (2 if counts else 1, 0)
    rate(two[1])
    assert (cell(), is_paid(two[1].person)) == ((0, 2 if counts else 0), True)
    withdraw(two[1])
    assert cell() == (0, 0)
