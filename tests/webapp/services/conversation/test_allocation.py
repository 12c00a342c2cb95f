"""Places of systems: whether there is room, which one is taken, when all is there (R16)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.factories import NOW, make_campaign, make_context, make_participation, make_system
from webapp.models import (
    Assignment,
    Campaign,
    Candidate,
    Contribution,
    Conversation,
    Item,
    Participation,
    QuotaCell,
    Seat,
)
from webapp.services.conversation import allocation

pytestmark = pytest.mark.django_db


def count(campaign: Campaign, name: str, reserved: int, completed: int, target: int = 3) -> None:
    """Set what a system's cell has counted."""
    QuotaCell.objects.filter(system__campaign=campaign, system__name=name).update(
        target=target, reserved=reserved, completed=completed
    )


@pytest.mark.parametrize(
    ("reserved", "completed", "room"),
    [(0, 0, True), (2, 0, True), (1, 1, True), (3, 0, False), (0, 3, False), (1, 2, False)],
)
def test_there_is_room_until_what_is_promised_and_done_reaches_the_target(
    reserved: int, completed: int, room: bool
) -> None:
    make_campaign(personas=0)  # another one, which always has room
    campaign = make_campaign(personas=0)
    count(campaign, "alpha", reserved, completed)
    assert allocation.has_capacity(campaign) == room
    person = make_participation(campaign)
    assert allocation.has_bot(person) == room
    assert (allocation.take(person=person) is not None) == room
    person.refresh_from_db()
    assert person.holds_slot == room


def test_people_are_no_bot() -> None:
    campaign = make_campaign(systems={"humans": "people"}, personas=0)
    first, second, third = (make_participation(campaign) for _ in range(3))
    assert allocation.has_capacity(campaign)
    assert not allocation.has_bot(first)
    assert allocation.take(person=first, bots_only=True) is None
    bot = make_system(campaign, "alpha", target=1)
    assert allocation.has_bot(second)
    assert allocation.take(person=second, bots_only=True) == bot
    assert not allocation.has_bot(third)


def test_a_bot_that_somebody_has_met_is_none_for_them() -> None:
    """So it is not offered to who waits for a person in a later round, either."""
    campaign = make_campaign(systems={"humans": "people", "alpha": "parrot"}, personas=0)
    person, other = make_participation(campaign), make_participation(campaign)
    room = Conversation.objects.create(
        campaign=campaign,
        system=campaign.systems.get(bot="parrot"),
        seed=1,
        started_at=NOW,
        state="FINISHED",
    )
    Seat.objects.create(conversation=room, side=0, participation=person, outcome="COMPLETED")
    assert not allocation.has_bot(person)
    assert allocation.has_bot(other)


def test_the_system_with_the_most_free_places_is_taken_and_held() -> None:
    campaign = make_campaign(systems={"a": "parrot", "b": "people", "c": "parrot"}, personas=0)
    count(campaign, "a", 1, 1)
    count(campaign, "b", 0, 1)
    count(campaign, "c", 2, 0)
    person = make_participation(campaign)
    system = allocation.take(person=person)
    assert system is not None
    assert system.name == "b"
    person = Participation.objects.get(pk=person.pk)
    assert (person.system, person.holds_slot) == (system, True)
    reserved = QuotaCell.objects.order_by("system_id").values_list("reserved", flat=True)
    assert list(reserved) == [1, 1, 2]


def test_a_tie_is_drawn_from_the_campaigns_seed_and_the_person() -> None:
    campaign = make_campaign(systems=dict.fromkeys("abcdef", "parrot"), personas=0)
    people = [make_participation(campaign) for _ in range(8)]
    draws: list[list[str]] = []
    for _ in range(2):
        QuotaCell.objects.update(reserved=0)
        draws.append([])
        for person in people:
            draws[-1].append(str(allocation.take(person=person)))
            QuotaCell.objects.update(reserved=0)
    assert draws[0] == draws[1]
    assert len(set(draws[0])) > 2


@pytest.mark.parametrize(
    ("alpha", "beta", "complete"),
    [((0, 3), (0, 3), True), ((0, 3), (0, 2), False), ((1, 2), (0, 3), False)],
)
def test_all_chats_are_there_when_every_system_has_its_number(
    alpha: tuple[int, int], beta: tuple[int, int], complete: bool
) -> None:
    make_campaign(personas=0)  # another one, of which nothing is there
    campaign = make_campaign(systems={"alpha": "parrot", "beta": "parrot"}, personas=0)
    count(campaign, "alpha", *alpha)
    count(campaign, "beta", *beta)
    assert allocation.is_complete(campaign) == complete


def test_a_campaign_without_systems_is_not_complete() -> None:
    make_campaign(personas=0)
    campaign = make_campaign(personas=0)
    QuotaCell.objects.filter(system__campaign=campaign).delete()
    assert not allocation.is_complete(campaign)


# --- items that raters judge


def item(campaign: Campaign, key: str, completed: int, **room: Any) -> Item:
    """Return an item of a context, two raters wanted."""
    fields = {"state": "FINISHED", "purpose": "CONTEXT", **room}
    made = Conversation.objects.create(
        campaign=campaign, system=campaign.systems.get(), seed=1, started_at=NOW, **fields
    )
    item = Item.objects.create(
        campaign=campaign, key=key, context=make_context(campaign), target=2, completed=completed
    )
    Candidate.objects.create(item=item, key="r", conversation=made, system=made.system, side=1)
    return item


def static() -> Campaign:
    """Return a static campaign beside another one that wants everything."""
    item(make_campaign("meena_static", personas=0), "k", 0, state="OPEN")
    return make_campaign("meena_static", personas=0)


def test_all_votes_are_there_when_every_item_has_its_number() -> None:
    campaign = static()
    assert not allocation.is_complete(campaign)  # no item was made yet
    assert not allocation.has_capacity(campaign)
    item(campaign, "one", 2)
    assert allocation.is_complete(campaign)
    assert not allocation.has_capacity(campaign)
    item(campaign, "two", 1)
    assert not allocation.is_complete(campaign)
    assert allocation.has_capacity(campaign)


@pytest.mark.parametrize(
    ("state", "purpose", "complete"),
    [
        ("OPEN", "CONTEXT", False),
        ("FAILED", "CONTEXT", True),
        ("OPEN", "REHEARSAL", True),
    ],
)
def test_a_continuation_without_an_answer_is_waited_for(
    state: str, purpose: str, complete: bool
) -> None:
    campaign = static()
    item(campaign, "one", 2)
    Conversation.objects.create(
        campaign=campaign,
        system=campaign.systems.get(),
        seed=1,
        started_at=NOW,
        state=state,
        purpose=purpose,
    )
    assert allocation.is_complete(campaign) == complete


@pytest.mark.parametrize(
    ("state", "complete"), [("OFFERED", False), ("ACCEPTED", True), ("REFUSED", True)]
)
def test_what_somebody_wrote_is_waited_for_until_it_is_decided(state: str, complete: bool) -> None:
    """What is undecided in another campaign is not waited for."""
    offer(item(make_campaign("meena_static", personas=0), "k", 2), "OFFERED")
    campaign = static()
    offer(item(campaign, "one", 2), state)
    assert allocation.is_complete(campaign) == complete


def offer(item: Item, state: str) -> None:
    """Store what somebody wrote about an item."""
    person = make_participation(item.campaign)
    done = Assignment.objects.create(
        item=item, participation=person, place=0, state="DONE", done_at=NOW
    )
    decided_at = None if state == "OFFERED" else NOW
    Contribution.objects.create(
        assignment=done, texts=["I own a boat."], state=state, decided_at=decided_at
    )


# --- several rounds ---------------------------------------------------------------------------


def rounds_campaign() -> Campaign:
    """Return a campaign whose participants meet three of four systems."""
    systems = dict.fromkeys(("alpha", "beta", "gamma", "delta"), "parrot")
    make_campaign(personas=0)  # another one
    return make_campaign(systems=systems, personas=0, changes={"chat.conversations": 3})


def test_an_order_is_drawn_as_a_whole_and_begins_with_what_is_taken() -> None:
    campaign = rounds_campaign()
    person = make_participation(campaign)
    taken = allocation.take(person=person)
    person.refresh_from_db()
    assert taken is not None
    assert person.planned[0] == taken.pk
    assert len(person.planned) == len(set(person.planned)) == 3
    assert set(person.planned) < set(campaign.systems.values_list("pk", flat=True))


def test_a_planned_system_that_is_full_gives_way_and_the_rest_of_the_order_stays() -> None:
    campaign = rounds_campaign()
    person = make_participation(campaign)
    first, second, third = campaign.systems.order_by("pk")[:3]
    person.planned = [first.pk, second.pk, third.pk]
    count(campaign, first.name, 3, 0)
    for system in (third, campaign.systems.order_by("pk")[3]):
        count(campaign, system.name, 3, 0)
    assert allocation.take(person=person) == second
    person.refresh_from_db()
    assert person.planned[0] == second.pk


def test_an_order_whose_next_system_is_full_is_planned_anew() -> None:
    campaign = rounds_campaign()
    person = make_participation(campaign)
    full, *others = campaign.systems.order_by("pk")
    person.planned = [full.pk, others[0].pk, others[1].pk]
    count(campaign, full.name, 3, 0)
    allocation.take(person=person)
    person.refresh_from_db()
    assert set(person.planned) == {each.pk for each in others}


def test_a_system_that_is_tried_again_keeps_its_order() -> None:
    campaign = rounds_campaign()
    person = make_participation(campaign)
    keys = list(campaign.systems.order_by("-pk").values_list("pk", flat=True))[:3]
    person.planned = keys
    taken = allocation.take(person=person)
    person.refresh_from_db()
    assert taken is not None
    assert (taken.pk, person.planned) == (keys[0], keys)


def test_with_one_round_no_order_is_planned() -> None:
    campaign = make_campaign(personas=0)
    person = make_participation(campaign)
    allocation.take(person=person)
    person.refresh_from_db()
    assert person.planned == [person.system_id]


@pytest.mark.parametrize(("state", "outcome"), [("CHATTING", ""), ("ENDED", "LEFT")])
def test_orders_count_while_their_people_are_there(state: str, outcome: str) -> None:
    """Who has left takes no round of a system any more."""
    campaign = rounds_campaign()
    systems = list(campaign.systems.order_by("pk").values_list("pk", flat=True))
    for _ in range(3):
        make_participation(campaign, state=state, outcome=outcome, planned=systems[:3])
    alike = 0
    for _ in range(12):
        person = make_participation(campaign)
        allocation.take(person=person)
        person.refresh_from_db()
        alike += sum(map(int.__eq__, person.planned, systems))
        Participation.objects.filter(pk=person.pk).update(state="ENDED", outcome="LEFT")
        QuotaCell.objects.update(reserved=0)
    assert (alike == 0) is (state == "CHATTING")


@pytest.mark.parametrize(
    ("state", "begun"), [("CHECKING", 1), ("OPEN", 1), ("FINISHED", 1), ("ABANDONED", 0)]
)
def test_a_round_that_was_abandoned_is_still_planned(state: str, begun: int) -> None:
    campaign = rounds_campaign()
    systems = list(campaign.systems.order_by("pk").values_list("pk", flat=True))[:3]
    person = make_participation(campaign, state="CHATTING", planned=systems)
    room = Conversation.objects.create(
        campaign=campaign, system_id=systems[0], seed=1, started_at=NOW, state=state
    )
    Seat.objects.create(conversation=room, side=0, participation=person, round=0)
    counts = allocation._by_round(campaign, besides=make_participation(campaign))
    assert counts == dict.fromkeys(enumerate(systems), 1)
    assert allocation._by_round(campaign, besides=person) == ({(0, systems[0]): 1} if begun else {})


def test_rounds_are_counted_of_this_campaign_s_study_alone() -> None:
    campaign, other = rounds_campaign(), rounds_campaign()
    for held, purpose in ((other, "STUDY"), (campaign, "REHEARSAL")):
        room = Conversation.objects.create(
            campaign=held,
            system=held.systems.earliest("pk"),
            purpose=purpose,
            seed=1,
            started_at=NOW,
            state="FINISHED",
        )
        Seat.objects.create(
            conversation=room, side=0, participation=make_participation(held), round=0
        )
    assert allocation._by_round(campaign, besides=make_participation(campaign)) == {}
