"""Quota cells and items: full is full, whether places are reserved or completed (R16)."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

import pytest

from tests.factories import NOW, make_campaign, make_participation
from tests.webapp.services.people import (
    after,
    bot_says,
    conversation_of,
    join,
    pair,
    people_campaign,
    send_message,
    start,
)
from webapp.models import Conversation, Item, Participation, QuotaCell, Seat
from webapp.services.conversation import chat
from webapp.services.participation import stopping
from webapp.services.rules import payment, quota

pytestmark = pytest.mark.django_db
COUNTS = [  # reserved and completed of two places, and whether there is another
    (0, 0, True),
    (1, 0, True),
    (0, 1, True),
    (2, 0, False),
    (1, 1, False),
    (0, 2, False),
]


def cell() -> QuotaCell:
    return make_campaign(personas=0).systems.get().cell


def item() -> Item:
    campaign = make_campaign(personas=0)
    conversation = Conversation.objects.create(
        campaign=campaign, system=campaign.systems.get(), seed=1, started_at=NOW
    )
    return Item.objects.create(campaign=campaign, key="i", conversation=conversation, target=0)


@pytest.mark.parametrize("make", [cell, item])
@pytest.mark.parametrize(("reserved", "completed", "is_free"), COUNTS)
def test_the_last_place_is_given_once(
    make: Callable[[], Any], reserved: int, completed: int, is_free: bool
) -> None:
    row = make()
    row.target, row.reserved, row.completed = 2, reserved, completed
    row.save()
    assert quota.reserve(row) is is_free
    row.refresh_from_db()
    assert (row.reserved, row.completed) == (reserved + is_free, completed)


def test_who_comes_back_to_a_form_whose_place_was_filled_is_told_so() -> None:
    """The only place was completed by somebody else meanwhile: a refusal, not an error."""
    campaign = make_campaign(target=1, changes={"chat.minimum": [2], "chat.pace": 0.0})
    person = start(campaign, "A1")
    send_message(person, "hello")
    bot_says(conversation_of(person), "I see.")
    chat.finish(person=person, client_id=uuid.uuid4(), now=after(5))
    stopping.give_away(person=person, now=after(1806))
    other = start(campaign, "A2", after(1900))
    payment.settle(person=other, outcome=Participation.Outcome.COMPLETED, now=after(2000))
    back = join(campaign, "A1", after(2100))
    assert (back.state, back.outcome) == ("ENDED", "LEFT")
    counts = QuotaCell.objects.values_list("reserved", "completed").get()
    assert counts == (0, 1)


def test_of_several_rows_each_with_a_place_left_gives_one() -> None:
    campaign = make_campaign(personas=0, systems=dict.fromkeys(("a", "b", "c", "d"), "parrot"))
    cells = list(QuotaCell.objects.filter(system__campaign=campaign).order_by("pk"))
    for each, (reserved, completed) in zip(cells, ((0, 0), (1, 0), (1, 1), (0, 2)), strict=True):
        QuotaCell.objects.filter(pk=each.pk).update(
            target=2, reserved=reserved, completed=completed
        )
    assert quota.reserve_each(cells[:3]) == {cells[0].pk, cells[1].pk}
    counts = QuotaCell.objects.order_by("pk").values_list("reserved", "completed")
    assert list(counts) == [(1, 0), (2, 0), (1, 1), (0, 2)]
    assert quota.reserve_each([]) == set()
    assert quota.reserve_each(cells[:1]) == {cells[0].pk}
    assert quota.reserve_each(cells[:1]) == set()


@pytest.mark.parametrize(
    ("sides", "is_rater", "is_partner_rated", "slots"),
    [
        ("both", True, False, 1),
        ("both", True, True, 2),
        ("one", True, False, 2),
        ("one", False, False, 0),
    ],
)
def test_of_two_people_who_comes_back_holds_what_their_rating_settles(
    sides: str, is_rater: bool, is_partner_rated: bool, slots: int
) -> None:
    campaign = people_campaign(changes={"rate.sides": sides})
    pair(campaign)
    seat = Seat.objects.filter(rates=is_rater).select_related("participation").earliest("pk")
    Seat.objects.exclude(pk=seat.pk).update(outcome="COMPLETED" if is_partner_rated else "")
    assert_takes_again(seat, slots)


def test_who_comes_back_from_a_bot_holds_their_own_slot() -> None:
    start(make_campaign())
    assert_takes_again(Seat.objects.get(participation__isnull=False), 1)


def assert_takes_again(seat: Seat, slots: int) -> None:
    """Let somebody who holds nothing come back, once where there is room and once where not."""
    person = seat.participation
    assert person is not None
    rows = Participation.objects.filter(pk=person.pk)
    held = rows.values_list("holds_slot", "holds_partners_slot")
    rows.update(holds_slot=False, holds_partners_slot=False)
    Seat.objects.filter(pk=seat.pk).update(outcome="LEFT")
    cells = QuotaCell.objects.all()
    cells.update(target=10, completed=0)
    if slots:
        cells.update(reserved=10 - slots + 1)
        assert not quota.take_again(person, seat)
        assert held.get() == (False, False)
    cells.update(reserved=10 - slots)
    beside = make_participation(person.campaign)
    room = Conversation.objects.create(
        campaign=person.campaign, system=person.campaign.systems.get(), seed=1, started_at=NOW
    )
    theirs = Seat.objects.create(
        conversation=room, side=0, participation=beside, outcome="LEFT", active=False
    )
    assert quota.take_again(person, seat)
    theirs.refresh_from_db()
    assert theirs.outcome == "LEFT"
    assert held.get() == (True, slots == 2)
    beside.refresh_from_db()
    assert (beside.holds_slot, beside.holds_partners_slot) == (False, False)
    assert cells.get().reserved == 10
    seat.refresh_from_db()
    assert seat.outcome == ""


def test_what_is_taken_back_is_of_the_system_that_was_met() -> None:
    campaign = make_campaign(systems=dict.fromkeys(("a", "b"), "parrot"))
    start(campaign)
    seat = Seat.objects.get(participation__isnull=False)
    QuotaCell.objects.update(completed=1)
    quota.uncount(seat)
    met = seat.conversation.system_id
    left = dict(QuotaCell.objects.values_list("system", "completed"))
    assert left == {pk: int(pk != met) for pk in left}
    assert len(left) == 2


@pytest.mark.parametrize("holds", [True, False])
def test_a_partners_slot_is_given_back_only_where_it_is_held(holds: bool) -> None:
    campaign = people_campaign(target=4)
    first, second = pair(campaign)
    beside = make_participation(campaign, holds_partners_slot=True)
    seat = first.seats.get()
    Seat.objects.filter(pk=seat.pk).update(outcome="COMPLETED")
    Participation.objects.filter(pk=second.pk).update(state="RATING", holds_partners_slot=holds)
    before = QuotaCell.objects.get().reserved
    for _ in range(2):
        quota.uncount(Seat.objects.get(pk=seat.pk))
    assert QuotaCell.objects.get().reserved == before - holds
    second.refresh_from_db()
    beside.refresh_from_db()
    assert (second.holds_partners_slot, beside.holds_partners_slot) == (False, True)


def test_the_slot_of_who_leaves_goes_to_their_partner_and_to_nobody_else() -> None:
    campaign = people_campaign(target=4)
    first, second = pair(campaign)
    others = pair(campaign)
    quota._hand_over(first.seats.get(), second.seats.get())
    held = dict(Participation.objects.values_list("pk", "holds_partners_slot"))
    assert held == {first.pk: False, second.pk: True, **{one.pk: False for one in others}}
    assert set(Participation.objects.filter(holds_slot=False)) == {first}


def test_how_a_seat_ended_is_that_of_its_person() -> None:
    person, other = (start(make_campaign(), name) for name in ("A1", "A2"))
    payment.settle(person=person, outcome=Participation.Outcome.COMPLETED, now=after(60))
    assert person.seats.get().outcome == "COMPLETED"
    assert other.seats.get().outcome == ""


@pytest.mark.parametrize(("is_rater", "free"), [(True, 0), (False, 1)])
def test_where_nothing_will_count_who_does_not_rate_holds_no_slot(
    is_rater: bool, free: int
) -> None:
    """Who rates settles their own with their rating."""
    pair(people_campaign(target=4, changes={"rate.sides": "one"}))
    seats = Seat.objects.select_related("participation__system", "conversation")
    seat, partner = seats.get(rates=is_rater), seats.get(rates=not is_rater)
    before = QuotaCell.objects.get().reserved
    quota.leave_to_rater(seat, partner, counts=False)
    assert QuotaCell.objects.get().reserved == before - free
    assert Participation.objects.filter(holds_slot=True).count() == 2 - free


@pytest.mark.parametrize("is_rater", [True, False])
def test_where_it_will_count_who_rates_holds_both_slots(is_rater: bool) -> None:
    """Whichever of the two goes on from a whole conversation."""
    pair(people_campaign(target=4, changes={"rate.sides": "one"}))
    Conversation.objects.update(state="FINISHED")
    seats = Seat.objects.select_related("participation__system", "conversation")
    seat, partner = seats.get(rates=is_rater), seats.get(rates=not is_rater)
    quota.leave_to_rater(seat, partner, counts=True)
    rater = Participation.objects.get(seats__rates=True)
    assert (rater.holds_slot, rater.holds_partners_slot) == (True, True)
    assert list(Participation.objects.filter(holds_slot=True)) == [rater]


def test_who_stops_before_they_rate_leaves_their_slot_to_nobody() -> None:
    first, second = pair(people_campaign(target=4))
    Conversation.objects.update(state="FINISHED")
    Participation.objects.update(state="RATING")
    before = QuotaCell.objects.get().reserved
    quota.give_back(Participation.objects.select_related("system").get(pk=first.pk), counts=False)
    assert QuotaCell.objects.values_list("reserved", "completed").get() == (before - 1, 0)
    second.refresh_from_db()
    assert (second.holds_slot, second.holds_partners_slot) == (True, False)


def test_a_conversation_that_a_partner_left_counts_as_one_where_it_counts() -> None:
    first, second = pair(people_campaign(target=4))
    Conversation.objects.update(state="ABANDONED")
    Seat.objects.filter(participation=second).update(outcome="LEFT")
    quota.give_back(Participation.objects.select_related("system").get(pk=first.pk), counts=True)
    assert QuotaCell.objects.get().completed == 1
