"""Pairs at their edges: who is present, who is first, what a missed check leaves (R17, R18).

Long because each edge of a pair is a test of its own.
"""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection

from tests.factories import NOW, make_campaign, make_participation, make_system
from tests.webapp.services.people import after, conversation_of, people_campaign, start
from tests.webapp.services.queries import moved
from webapp.models import Campaign, Conversation, Participation, Persona, QuotaCell, Seat, System
from webapp.services.conversation import matching, opening

pytestmark = pytest.mark.django_db
P = Participation.State


def waiter(campaign: Campaign, seconds: float = 0, **changes: Any) -> Participation:
    """Return somebody who waits since then for a person, present at the beginning."""
    fields = {"state": P.WAITING, "waiting_at": after(seconds), "system": people_of(campaign)}
    return make_participation(campaign, **fields | changes)


def people_of(campaign: Campaign) -> System:
    return campaign.systems.filter(bot="people")[0]


def states_of(*people: Participation) -> list[str]:
    for person in people:
        person.refresh_from_db()
    return [person.state for person in people]


@pytest.mark.parametrize(("seconds", "pairs"), [(9.9, 1), (10.0, 1), (10.1, 0)])
def test_who_gave_a_sign_of_life_within_ten_seconds_is_present(seconds: float, pairs: int) -> None:
    campaign = people_campaign()
    people = [waiter(campaign) for _ in range(2)]
    assert len(matching.match(campaign=campaign, now=after(seconds))) == pairs
    assert set(states_of(*people)) == {P.MATCHED if pairs else P.WAITING}


def test_how_long_each_of_a_pair_waited_is_kept() -> None:
    """From these bots' waits are drawn."""
    campaign = people_campaign()
    first, second = (waiter(campaign, state_at=after(-seconds)) for seconds in (7, 2.5))
    assert len(matching.match(campaign=campaign, now=NOW)) == 1
    waited = dict(Seat.objects.values_list("participation", "seconds_waiting"))
    assert waited == {first.pk: 7.0, second.pk: 2.5}


@pytest.mark.parametrize(("seconds", "kept"), [(-2.0, 0.0), (0.0, 0.0), (0.4, 0.4)])
def test_nobody_waited_for_less_than_no_time(seconds: float, kept: float) -> None:
    """Clocks of two web servers differ: one may have seated somebody later than it is here."""
    campaign = people_campaign()
    for _ in range(2):
        waiter(campaign, state_at=after(-seconds))
    assert len(matching.match(campaign=campaign, now=NOW)) == 1
    assert set(Seat.objects.values_list("seconds_waiting", flat=True)) == {kept}


@pytest.mark.parametrize(("held", "partner"), [((0, 0, 1), 2), ((None, None, 1), 1)])
def test_who_holds_another_persona_comes_first_to_who_holds_one(
    held: tuple[int | None, ...], partner: int
) -> None:
    campaign = people_campaign()
    known = list(campaign.personas.order_by("pk"))
    people = [
        waiter(campaign, number, persona=None if one is None else known[one])
        for number, one in enumerate(held)
    ]
    assert len(matching.match(campaign=campaign, now=after(5))) == 1
    seated = set(Seat.objects.values_list("participation", flat=True))
    assert seated == {people[0].pk, people[partner].pk}


def test_a_check_that_was_answered_meanwhile_does_not_expire() -> None:
    campaign = people_campaign()
    pair = [waiter(campaign) for _ in range(2)]
    (room,) = matching.match(campaign=campaign, now=NOW)
    for person in pair:
        opening.meet(person=person, now=after(3))
    assert not matching._expire(room.pk, after(60))
    room.refresh_from_db()
    assert room.state == "OPEN"


def test_only_who_waits_for_the_same_partners_in_the_campaign_is_paired() -> None:
    campaign, other = people_campaign(), people_campaign()
    second = make_system(campaign, "others", bot="people")
    waiter(campaign)
    waiter(campaign, system=second)
    waiter(campaign, state=P.CHATTING)
    waiter(other)
    assert matching.match(campaign=campaign, now=NOW) == []


def test_all_present_are_paired_in_every_system_of_people() -> None:
    campaign = people_campaign()
    second = make_system(campaign, "others", bot="people")
    make_system(campaign, "bot")
    people = [waiter(campaign, number) for number in range(5)]
    others = [waiter(campaign, number, system=second) for number in range(2)]
    for person in (*people, *others):
        Participation.objects.filter(pk=person.pk).update(notice="partner_missed")
    made = matching.match(campaign=campaign, now=after(5))
    assert len(made) == 3
    assert states_of(*people) == [P.MATCHED] * 4 + [P.WAITING]
    assert states_of(*others) == [P.MATCHED] * 2
    seated = [list(room.seats.values_list("participation", flat=True)) for room in made]
    assert [sorted(pair) for pair in seated[:2]] == [
        [people[0].pk, people[1].pk],
        [people[2].pk, people[3].pk],
    ]
    assert (people[0].notice, people[0].state_at) == ("", after(5))
    assert people[4].notice == "partner_missed"
    assert made[0].deadline_at == after(20)


@pytest.mark.parametrize("state", ["DRAFT", "PAUSED", "STOPPED", "CLOSED"])
def test_nobody_is_paired_while_the_campaign_is_not_open(state: str) -> None:
    """R22."""
    campaign = people_campaign()
    for _ in range(2):
        waiter(campaign)
    Campaign.objects.update(state=state)
    campaign.refresh_from_db()
    assert matching.match(campaign=campaign, now=NOW) == []


def test_of_two_who_came_at_once_the_first_row_comes_first() -> None:
    campaign = people_campaign()
    people = [waiter(campaign, 5) for _ in range(3)]
    earlier = waiter(campaign, 4)
    (one, two) = matching.match(campaign=campaign, now=NOW)
    assert list(one.seats.values_list("participation", flat=True)) == [earlier.pk, people[0].pk]
    assert list(two.seats.values_list("participation", flat=True)) == [people[1].pk, people[2].pk]


def test_whom_another_process_matched_meanwhile_is_not_seated_twice() -> None:
    """R17: nothing of the pair is kept, and the other one goes on waiting."""
    campaign = people_campaign()
    one, other = waiter(campaign), waiter(campaign, 1)
    taken: list[Participation] = []

    def meanwhile(execute: Any, sql: str, *more: Any) -> Any:
        found = execute(sql, *more)
        if sql.startswith("UPDATE") and '"webapp_participation"' in sql and not taken:
            taken.append(other)
            Participation.objects.filter(pk=other.pk).update(state=P.CHATTING)
        return found

    with connection.execute_wrapper(meanwhile):
        assert matching.match(campaign=campaign, now=NOW) == []
    assert taken
    assert one.seats.count() == other.seats.count() == 0
    assert states_of(one) == [P.WAITING]


def checked(campaign: Campaign) -> tuple[Participation, Participation, Conversation]:
    """Return two people who are asked whether they are there."""
    first, second = start(campaign), start(campaign)
    return first, second, conversation_of(first)


@pytest.mark.parametrize(("seconds", "ended"), [(14.9, 0), (15.0, 0), (15.1, 1)])
def test_a_check_ends_after_its_deadline(seconds: float, ended: int) -> None:
    checked(people_campaign())
    assert matching.expire_checks(now=after(seconds)) == ended


def test_what_a_missed_check_leaves() -> None:
    campaign = people_campaign()
    first, second, room = checked(campaign)
    opening.meet(person=second, now=after(3))
    Persona.objects.filter(taken=0).update(taken=1)
    assert matching.expire_checks(now=after(20)) == 1
    room.refresh_from_db()
    assert (room.state, room.ended_at, room.ended_because) == (
        "ABANDONED",
        after(20),
        "ready check",
    )
    assert not room.seats.filter(active=True).exists()
    assert states_of(first, second) == [P.READY, P.WAITING]
    assert (first.notice, first.state_at) == ("missed", after(20))
    assert (first.waiting_at, first.system, first.holds_slot) == (None, None, False)
    assert [float(each.reserved_pay) for each in (first, second)] == [0.0, 2.0]
    assert (second.notice, second.state_at) == ("partner_missed", after(20))
    assert (second.waiting_at, second.holds_slot) == (NOW, True)
    assert QuotaCell.objects.get().reserved == 1
    assert second.persona == room.seats.get(participation=second).persona  # held again
    assert first.persona not in (None, second.persona)
    assert sorted(Persona.objects.values_list("taken", flat=True)) == [1] * 8


def test_a_check_that_was_answered_or_is_of_others_goes_on() -> None:
    campaign = people_campaign()
    first, second, room = checked(campaign)
    for person in (first, second):
        opening.meet(person=person, now=after(3))
    Conversation.objects.update(deadline_at=after(5))  # as if it had not been taken away
    assert matching.expire_checks(now=after(20)) == 0
    assert states_of(first, second) == [P.CHATTING] * 2
    third, fourth, late = checked(campaign)
    Conversation.objects.filter(pk=late.pk).update(deadline_at=after(10))
    assert matching.expire_checks(now=after(20)) == 1
    assert room.seats.filter(active=True).count() == 2
    assert states_of(third, fourth) == [P.READY] * 2


def test_who_was_ended_meanwhile_is_not_sent_back() -> None:
    campaign = people_campaign()
    first, second, _ = checked(campaign)
    Participation.objects.filter(pk=first.pk).update(state=P.ENDED, outcome="LEFT")
    assert matching.expire_checks(now=after(20)) == 1
    assert states_of(first, second) == [P.ENDED, P.READY]


def test_an_empty_side_is_nobody_to_send_back() -> None:
    campaign = people_campaign()
    first, second, room = checked(campaign)
    Seat.objects.filter(conversation=room, participation=second).update(participation=None)
    assert matching.expire_checks(now=after(20)) == 1
    assert states_of(first, second) == [P.READY, P.MATCHED]


def test_the_rows_of_a_missed_check_are_written_in_the_one_order_of_all() -> None:
    campaign = people_campaign()
    first = waiter(campaign, 5)
    second = waiter(campaign, 0)
    (room,) = matching.match(campaign=campaign, now=after(5))
    assert room.seats.get(side=0).participation == second
    assert moved(lambda: matching.expire_checks(now=after(30))) == [first.pk, second.pk]


def alone(**changes: Any) -> Participation:
    """Return somebody who waits for a person, with a bot of the campaign free."""
    campaign = make_campaign(
        systems={"humans": "people"}, bot_when_alone=True, wait_seconds=60, **changes
    )
    person = start(campaign)
    make_system(campaign, "alpha")
    return person


@pytest.mark.parametrize(
    ("seconds", "choices"), [(59.9, ()), (60.0, ("bot", "give_up")), (60.1, ("bot", "give_up"))]
)
def test_the_choices_come_with_the_end_of_the_countdown(
    seconds: float, choices: tuple[str, ...]
) -> None:
    """R18."""
    assert matching.choices(alone(), after(seconds)) == choices


def test_how_long_the_platform_was_up_is_not_looked_up_before_the_clock_says_so(
    django_assert_num_queries: Any,
) -> None:
    person = alone()
    assert person.campaign.wait_seconds == 60
    with django_assert_num_queries(0):
        assert matching.choices(person, after(59)) == ()
    person.waiting_at = None
    with django_assert_num_queries(0):
        assert matching.choices(person, after(999)) == ()


def test_without_a_free_bot_only_leaving_can_be_chosen() -> None:
    person = alone()
    QuotaCell.objects.filter(system__name="alpha").update(target=0)
    assert matching.choices(person, after(60)) == ("give_up",)


@pytest.mark.parametrize("state", [P.READY, P.MATCHED, P.CHATTING, P.RATING])
def test_who_does_not_wait_has_nothing_to_choose(state: str) -> None:
    person = alone()
    Participation.objects.update(state=state)
    person.refresh_from_db()
    assert matching.choices(person, after(99)) == ()
    with pytest.raises(
        matching.NotWaiting, match=f"{person.pk} may not leave with waiting pay yet"
    ):
        matching.give_up(person=person, now=after(99))


@pytest.mark.parametrize(
    ("since", "seconds"), [(None, 0.0), (0, 50.0), (20, 30.0)], ids=["not at all", "long", "short"]
)
def test_the_wait_is_counted_from_the_place_in_the_queue(
    since: float | None, seconds: float
) -> None:
    waiting_at = None if since is None else after(since)
    person = make_participation(make_campaign(personas=0), waiting_at=waiting_at)
    assert matching.seconds_waiting(person, after(50)) == seconds


def test_a_bot_is_taken_after_the_countdown_and_not_before() -> None:
    person = alone()
    with pytest.raises(matching.NotWaiting, match=f"participation {person.pk} may not take a bot"):
        matching.take_bot(person=person, now=after(59))
    taken = matching.take_bot(person=person, now=after(60))
    room = conversation_of(taken)
    assert (room.system.name, room.started_at) == ("alpha", after(60))
    assert (taken.system, taken.state, taken.holds_slot) == (room.system, P.MATCHED, True)
    assert matching.take_bot(person=person, now=after(61)) == taken
    assert Conversation.objects.count() == 1
    assert matching.NotWaiting.notice == "not_now"


def test_who_waited_in_vain_leaves_with_waiting_pay() -> None:
    """R21: counted to nobody's quota; the place is free."""
    person = alone()
    ended = matching.give_up(person=person, now=after(60))
    assert (ended.state, ended.outcome, ended.ended_at) == (P.ENDED, "NOBODY", after(60))
    assert matching.give_up(person=person, now=after(70)).ended_at == after(60)
