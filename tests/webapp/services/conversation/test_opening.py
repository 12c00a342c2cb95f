"""The beginning of a conversation: sides, personas, length, and the ready check (R17)."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.factories import NOW, make_campaign, make_participation
from tests.webapp.services.people import after, conversation_of, people_campaign, start
from tests.webapp.services.queries import moved
from webapp.models import Campaign, Conversation, Event, Item, Participation, Persona, Seat
from webapp.services.conversation import matching, opening
from webapp.services.rules.protocols import protocol_of

pytestmark = pytest.mark.django_db
P = Participation.State


def bot_chat(
    protocol: str = "personachat_bot", **changes: object
) -> tuple[Participation, Conversation]:
    """Return somebody and the conversation with a bot that was opened for them."""
    campaign = make_campaign(protocol)
    campaign.systems.update(**changes)
    person = make_participation(campaign, waiting_at=NOW)
    made = opening.open_with_bot(person=person, system=campaign.systems.get(), now=after(5))
    return person, made


def people() -> tuple[Campaign, Participation, Participation, Conversation]:
    """Return two people who are asked whether they are there."""
    campaign = people_campaign()
    first, second = (make_participation(campaign, state=P.MATCHED) for _ in range(2))
    made = opening.open_with_person(
        first=first, second=second, system=campaign.systems.get(), now=NOW
    )
    return campaign, first, second, made


def test_what_is_written_of_a_chat_with_a_bot() -> None:
    person, made = bot_chat()
    assert made == Conversation.objects.get()
    assert (person.state, person.system, person.waiting_at) == ("CHATTING", made.system, None)
    assert person.state_at == after(5)
    assert (made.campaign, made.state, made.started_at) == (person.campaign, "OPEN", after(5))
    assert (made.minimum in (12, 14, 16), made.maximum, made.deadline_at) == (True, None, None)
    assert 0 < made.seed < 2**48
    mine, bots = made.seats.all()
    assert (mine.side, mine.participation, mine.ready_at) == (0, person, after(5))
    assert (bots.side, bots.participation, bots.ready_at) == (1, None, None)
    assert mine.sees_persona
    assert bots.sees_persona
    assert mine.persona != bots.persona
    assert not Event.objects.exists()


def test_a_bot_that_plays_no_character_is_not_told_one() -> None:
    _, made = bot_chat(sees_persona=False)
    assert list(made.seats.values_list("sees_persona", flat=True)) == [True, False]


def test_a_bot_that_opens_says_its_fixed_words_and_can_be_labeled() -> None:
    person, made = bot_chat("meena_interactive")
    said = Event.objects.get()
    assert (said.conversation, said.kind, said.side) == (made, "message", 1)
    assert (said.content, said.in_reply_to, said.seq) == ({"text": "Hi!"}, 0, 1)
    assert (made.minimum, made.maximum) == (14, 28)
    assert set(made.seats.values_list("persona", flat=True)) == {None}
    form = person.assignments.get()
    assert (form.made_at, form.item) == (after(5), Item.objects.get(conversation=made))


def test_personas_come_from_the_split_and_the_campaign() -> None:
    campaign = make_campaign(personas=4)
    make_campaign(personas=6)
    keep = list(Persona.objects.filter(campaign=campaign)[:2])
    Persona.objects.exclude(pk__in=[one.pk for one in keep]).update(split="train")
    Persona.objects.exclude(campaign=campaign).update(split="test")
    person = make_participation(campaign)
    made = opening.open_with_bot(person=person, system=campaign.systems.get(), now=NOW)
    assert {seat.persona for seat in made.seats.all()} == set(keep)


def test_length_and_seed_are_drawn_anew_for_each_conversation_of_a_person() -> None:
    """One seed gives one study: the draw hangs on the campaign, the person and their number."""
    campaign = make_campaign(personas=60)
    people = [make_participation(campaign) for _ in range(12)]
    rooms = [
        opening.open_with_bot(person=person, system=campaign.systems.get(), now=NOW)
        for person in people
    ]
    assert {room.minimum for room in rooms} == {12, 14, 16}
    assert len({room.seed for room in rooms}) == 12
    Seat.objects.filter(conversation=rooms[0]).update(active=False)
    Participation.objects.filter(pk=people[0].pk).update(state="READY")
    people[0].refresh_from_db()
    second = opening.open_with_bot(person=people[0], system=campaign.systems.get(), now=NOW)
    assert second.seed != rooms[0].seed


@pytest.mark.parametrize("among", ["bot", "person"])
def test_a_protocol_without_a_chat_opens_none(among: str) -> None:
    campaign = make_campaign("meena_static", personas=0)
    one, other = make_participation(campaign), make_participation(campaign)
    system = campaign.systems.get()
    begin = {
        "bot": lambda: opening.open_with_bot(person=one, system=system, now=NOW),
        "person": lambda: opening.open_with_person(first=one, second=other, system=system, now=NOW),
    }
    with pytest.raises(LookupError, match="protocol meena_static has no chat"):
        begin[among]()
    one.refresh_from_db()
    assert one.state == "READY"
    assert not Conversation.objects.exists()


def test_what_is_written_of_a_ready_check() -> None:
    """R17: fifteen seconds to answer it."""
    _, first, second, made = people()
    assert (made.state, made.started_at, made.deadline_at) == ("CHECKING", NOW, after(15))
    seats = list(made.seats.all())
    assert [seat.participation for seat in seats] == [first, second]
    assert [seat.ready_at for seat in seats] == [None, None]
    assert [seat.sees_persona for seat in seats] == [True, True]
    assert seats[0].persona != seats[1].persona


def test_an_answer_to_the_ready_check_is_noted_once_and_for_one() -> None:
    _, first, second, made = people()
    opening.meet(person=first, now=after(3))
    assert opening.meet(person=first, now=after(4)) == made
    assert list(made.seats.values_list("ready_at", flat=True)) == [after(3), None]
    first.refresh_from_db()
    assert first.state == "MATCHED"
    Participation.objects.update(notice="partner_missed")
    opened = opening.meet(person=second, now=after(6))
    assert (opened.state, opened.started_at, opened.deadline_at) == ("OPEN", after(6), None)
    for person in (first, second):
        person.refresh_from_db()
        assert (person.state, person.notice) == ("CHATTING", "")
        assert (person.state_at, person.seen_at) == (after(6), after(6))
    again = opening.meet(person=first, now=after(7))
    assert (again.state, again.started_at) == ("OPEN", after(6))


def test_who_has_left_the_ready_check_has_no_partner_to_meet() -> None:
    _, first, _, made = people()
    made.seats.update(active=False)
    with pytest.raises(opening.NotMeeting, match=f"participation {first.pk} has no partner"):
        opening.meet(person=first, now=NOW)
    assert opening.NotMeeting.notice == "not_now"


def test_the_rows_of_two_people_are_written_in_the_one_order_of_all() -> None:
    """Two transactions that hold two rows each must not wait for one another (PostgreSQL)."""
    campaign, first, second, made = people()
    made.seats.update(active=False)
    Conversation.objects.update(state="ABANDONED")
    Participation.objects.update(state="MATCHED")
    room = opening.open_with_person(
        first=second, second=first, system=campaign.systems.get(), now=NOW
    )
    opening.meet(person=first, now=NOW)
    order = moved(lambda: opening.meet(person=second, now=NOW))
    assert order == [first.pk, second.pk]
    assert room.seats.get(side=0).participation == second


def test_pairs_are_matched_in_the_one_order_of_all() -> None:
    campaign = people_campaign()
    first = start(campaign, now=after(5))
    Participation.objects.update(waiting_at=after(9))
    second = make_participation(
        campaign, state="WAITING", waiting_at=NOW, seen_at=after(5), system=first.system
    )
    order = moved(lambda: matching.match(campaign=campaign, now=after(5)))
    assert order == [first.pk, second.pk]
    sides = conversation_of(first).seats.values_list("participation", flat=True)
    assert list(sides) == [second.pk, first.pk]  # who waited longer sits first


def test_both_sides_play_different_characters_where_one_is_taken_seldom() -> None:
    """The persona that is taken least would be drawn for both sides."""
    campaign = make_campaign(personas=2)
    rare, common = campaign.personas.order_by("pk")
    Persona.objects.filter(pk=common.pk).update(taken=9)
    person = make_participation(campaign)
    made = opening.open_with_bot(person=person, system=campaign.systems.get(), now=NOW)
    assert list(made.seats.values_list("persona", flat=True)) == [rare.pk, common.pk]


def test_where_one_of_two_people_rates_it_is_the_side_that_is_drawn() -> None:
    campaign = people_campaign(changes={"rate.sides": "one"}, target=100)
    system = campaign.systems.get()
    drawn: Counter[int] = Counter()
    for _ in range(12):
        first, second = (
            make_participation(campaign, system=system, state="MATCHED") for _ in range(2)
        )
        room = opening.open_with_person(first=first, second=second, system=system, now=NOW)
        (rater,) = room.seats.filter(rates=True)
        people = {0: first, 1: second}
        assert rater.participation == people[rater.side]
        assert (rater.side,) == opening._rating_sides(room, protocol_of(campaign))
        drawn[rater.side] += 1
    assert min(drawn[0], drawn[1]) > 0


def test_both_of_two_people_rate_where_the_setting_says_so() -> None:
    campaign = people_campaign()
    system = campaign.systems.get()
    first, second = (make_participation(campaign, system=system, state="MATCHED") for _ in range(2))
    room = opening.open_with_person(first=first, second=second, system=system, now=NOW)
    assert room.seats.filter(rates=True).count() == 2
