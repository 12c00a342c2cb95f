"""Two present waiters, a ready check, and what happens to who fails it (R17, R18)."""

from __future__ import annotations

import pytest

from tests.factories import NOW, make_campaign, make_system
from tests.webapp.services.people import (
    after,
    conversation_of,
    pair,
    people_campaign,
    see,
    send_message,
    start,
)
from webapp.models import Campaign, Conversation, Participation, Persona, QuotaCell, System
from webapp.services.conversation import chat, matching, opening
from webapp.services.participation import enrolment
from webapp.services.rules import states

pytestmark = pytest.mark.django_db


def states_of(*people: Participation) -> list[str]:
    for person in people:
        person.refresh_from_db()
    return [person.state for person in people]


def test_two_who_are_present_are_matched_and_meet() -> None:
    campaign = people_campaign()
    first, second = start(campaign), start(campaign)
    assert states_of(first, second) == ["MATCHED", "MATCHED"]
    conversation = conversation_of(first)
    assert conversation == conversation_of(second)
    assert conversation.deadline_at == after(15)
    opening.meet(person=first, now=after(3))
    assert states_of(first, second) == ["MATCHED", "MATCHED"]
    opening.meet(person=second, now=after(4))
    assert states_of(first, second) == ["CHATTING", "CHATTING"]
    seats = conversation.seats.all()
    assert seats[0].persona != seats[1].persona
    assert QuotaCell.objects.get().reserved == 2


def test_nobody_is_matched_with_themself() -> None:
    campaign = people_campaign()
    person = start(campaign)
    for _ in range(3):
        enrolment.start(person=person, now=NOW)
        assert matching.match(campaign=campaign, now=NOW) == []
    assert states_of(person) == ["WAITING"]


def test_who_is_not_present_is_not_matched() -> None:
    campaign = people_campaign()
    absent = start(campaign)
    present = start(campaign, now=after(11))
    assert states_of(absent, present) == ["WAITING", "WAITING"]
    see(absent, present, now=after(12))
    assert len(matching.match(campaign=campaign, now=after(13))) == 1


def test_the_longest_waiting_are_matched_first() -> None:
    campaign = people_campaign()
    people = [start(campaign, now=after(20 * turn)) for turn in range(3)]
    assert states_of(*people) == ["WAITING"] * 3
    see(*people, now=after(60))
    matching.match(campaign=campaign, now=after(60))
    assert states_of(*people) == ["MATCHED", "MATCHED", "WAITING"]


def test_who_misses_the_check_begins_again_and_the_other_keeps_their_place() -> None:
    campaign = people_campaign()
    there, away = start(campaign), start(campaign, now=after(2))
    opening.meet(person=there, now=after(3))
    assert matching.expire_checks(now=after(17)) == 0
    assert matching.expire_checks(now=after(18)) == 1
    assert states_of(there, away) == ["WAITING", "READY"]
    assert there.waiting_at == NOW
    assert (there.notice, away.notice) == ("partner_missed", "missed")
    assert (away.system, away.holds_slot) == (None, False)
    assert QuotaCell.objects.get().reserved == 1
    held = {there.persona, away.persona}
    assert set(Persona.objects.filter(taken=1)) == held  # theirs for the next attempt
    assert conversation_of(there).seats.get(participation=there).persona == there.persona
    assert conversation_of(there).state == Conversation.State.ABANDONED
    assert matching.expire_checks(now=after(18)) == 0


def test_an_answer_after_the_deadline_is_refused() -> None:
    campaign = people_campaign()
    first, second = start(campaign), start(campaign)
    matching.expire_checks(now=after(16))
    with pytest.raises(opening.NotMeeting):
        opening.meet(person=second, now=after(17))
    assert states_of(first, second) == ["READY", "READY"]


def test_a_paused_campaign_makes_no_pairs() -> None:
    campaign = people_campaign()
    first = start(campaign)
    Campaign.objects.update(state=Campaign.State.PAUSED)
    campaign.refresh_from_db()
    Participation.objects.create(
        campaign=campaign,
        system=first.system,
        pseudonym="second",
        pay=0,
        waiting_pay=0,
        currency="USD",
        quit_rule="FULL",
        least_work=1,
        secret_hash="second",
        state="WAITING",
        state_at=NOW,
        seen_at=NOW,
        waiting_at=NOW,
    )
    assert matching.match(campaign=campaign, now=NOW) == []


def test_waiting_in_vain_can_be_ended_with_waiting_pay_but_not_before_the_countdown() -> None:
    campaign = people_campaign(wait_seconds=60)
    person = start(campaign)
    with pytest.raises(matching.NotWaiting):
        matching.give_up(person=person, now=after(59))
    ended = matching.give_up(person=person, now=after(60))
    assert (ended.outcome, ended.code.kind, str(ended.code.amount)) == ("NOBODY", "WAITING", "0.50")
    assert matching.give_up(person=person, now=after(61)).code == ended.code
    assert QuotaCell.objects.get().reserved == 0


@pytest.mark.parametrize(
    ("offered", "choices"), [(True, ("bot", "give_up")), (False, ("give_up",))]
)
def test_a_bot_is_offered_only_where_the_campaign_says_so(
    offered: bool, choices: tuple[str, ...]
) -> None:
    campaign = make_campaign(systems={"humans": "people"}, bot_when_alone=offered, wait_seconds=60)
    person = start(campaign)
    make_system(campaign, "alpha")
    assert matching.choices(person, after(61)) == choices


def test_taking_a_bot_moves_the_place_to_the_bot() -> None:
    campaign = make_campaign(systems={"humans": "people"}, bot_when_alone=True, wait_seconds=60)
    person = start(campaign)
    bot = make_system(campaign, "alpha")
    taken = matching.take_bot(person=person, now=after(61))
    assert (taken.state, taken.system) == ("MATCHED", bot)
    reserved = dict(QuotaCell.objects.values_list("system__name", "reserved"))
    assert reserved == {"humans": 0, "alpha": 1}
    assert matching.take_bot(person=person, now=after(62)).state == "MATCHED"
    assert conversation_of(person).deadline_at == after(76)


def test_without_a_free_bot_the_place_in_the_queue_is_kept() -> None:
    campaign = make_campaign(systems={"humans": "people"}, bot_when_alone=True, wait_seconds=60)
    person = start(campaign)
    make_system(campaign, "alpha", target=0)
    with pytest.raises(matching.NotWaiting):
        matching.take_bot(person=person, now=after(61))
    person.refresh_from_db()
    assert (person.state, person.holds_slot) == ("WAITING", True)
    assert QuotaCell.objects.get(system__bot="people").reserved == 1


def test_whose_partner_left_before_they_spoke_is_first_in_the_queue_again() -> None:
    campaign = people_campaign()
    first, second = pair(campaign)
    send_message(first, "hello there")
    chat.leave(person=first, now=after(20), because="stopped")
    assert states_of(second) == ["WAITING"]
    assert second.waiting_at == NOW
    assert matching.seconds_waiting(second, after(20)) == 20
    with pytest.raises(states.Illegal):
        states.move(second, "meet")
    assert System.objects.count() == 1
