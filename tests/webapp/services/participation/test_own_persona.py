"""Everybody's own persona, drawn before the wait and held through it."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest

from tests.factories import NOW, make_campaign, make_staff
from tests.webapp.services.participation.test_rounds import campaign_of, go_on, have
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
from tests.webapp.views.visiting import Visit
from webapp.models import Campaign, Participation, Persona
from webapp.services.campaign import amendments
from webapp.services.conversation import chat, matching, opening
from webapp.services.participation import enrolment, privacy, screens, stopping
from webapp.services.rules import persona_stack

pytestmark = pytest.mark.django_db
POOL = 8
ENTRANTS = 100
FAR = 20  # seconds between two who come: nobody is present when the next one is


def read(person: Participation) -> Participation:
    return Participation.objects.select_related("campaign", "persona").get(pk=person.pk)


def shown(person: Participation) -> tuple[str, ...]:
    """Return the character on the person's page."""
    return screens.show(person=read(person), now=NOW).persona


def taken(campaign: Campaign) -> list[int]:
    rows = campaign.personas.order_by("taken", "pk")
    return [each.taken for each in rows]


def alone(campaign: Campaign, count: int) -> list[Participation]:
    """Return people who wait and whom nobody meets."""
    return [start(campaign, now=after(FAR * number)) for number in range(count)]


def test_one_persona_is_shown_from_the_instructions_to_the_conversation() -> None:
    campaign = people_campaign()
    person = join(campaign)
    own = shown(person)
    assert own == tuple(read(person).persona.sentences)  # type: ignore[union-attr]
    enrolment.start(person=person, now=NOW)
    assert shown(person) == own
    partner = start(campaign)
    assert read(person).state == "MATCHED"
    assert shown(person) == own != shown(partner)
    for one in (person, partner):
        opening.meet(person=one, now=NOW)
    assert read(person).state == "CHATTING"
    assert shown(person) == own
    seat = person.seats.get(active=True)
    assert seat.persona is not None
    assert own == tuple(seat.persona.sentences)
    assert read(person).persona is None, "taken along"
    assert sum(taken(campaign)) == 2


def test_a_bots_partner_chats_under_the_persona_of_the_instructions() -> None:
    campaign = make_campaign()
    person = join(campaign)
    own = read(person).persona
    enrolment.start(person=person, now=NOW)
    mine, bots = conversation_of(person).seats.all()
    assert (mine.persona, read(person).persona) == (own, None)
    assert bots.persona not in (None, own)
    assert sum(taken(campaign)) == 2


def test_pages_show_it_before_the_wait_and_in_it() -> None:
    visit = Visit(people_campaign())
    ready = visit.join().content.decode()
    assert visit.person.persona is not None
    waiting = visit.post("start").content.decode()
    for page in (ready, waiting):
        assert all(sentence in page for sentence in visit.person.persona.sentences)
        assert "persona.js" in page
    assert f'data-character="{visit.person.persona.pk}"' in waiting
    assert visit.get("status?version=2").json()["character"] == visit.person.persona.pk


def stop(person: Participation) -> None:
    stopping.stop(person=person, now=NOW)


def give_up(person: Participation) -> None:
    matching.give_up(person=person, now=after(FAR * ENTRANTS + 10_000))


def vanish(person: Participation) -> None:
    stopping.give_away(person=person, now=NOW + timedelta(days=1))


def withdraw(person: Participation) -> None:
    privacy.withdraw(token=privacy.withdraw_token(person), now=NOW)


@pytest.mark.parametrize(
    ("size", "entrants"), [(POOL - 1, 4 * (POOL - 1)), (POOL, ENTRANTS), (POOL + 1, 4 * (POOL + 1))]
)
def test_the_pool_is_as_before_after_entrants_who_leave_while_they_wait(
    size: int, entrants: int
) -> None:
    """So many at once as there are personas, one fewer, and one more."""
    campaign = people_campaign(target=ENTRANTS, personas=POOL)
    Persona.objects.filter(key__in=("p1", "p2")).update(taken=1)
    before = dict(campaign.personas.values_list("key", "taken"))
    leave = ways()
    for _ in range(0, entrants, size):
        people = alone(campaign, size)
        assert sum(taken(campaign)) == sum(before.values()) + size
        held = [read(person).persona_id for person in people]
        assert len(set(held)) == min(size, POOL)
        for person in people:
            next(leave)(read(person))
            assert read(person).state == "ENDED"
    assert dict(campaign.personas.values_list("key", "taken")) == before
    assert not campaign.participations.exclude(persona=None).exists()


def ways() -> Iterator[Callable[[Participation], None]]:
    while True:
        yield from (stop, give_up, vanish, withdraw)


def test_a_pause_takes_the_personas_of_who_waits_and_they_get_one_again() -> None:
    campaign, more = people_campaign(), {"by": make_staff(), "reason": "A fault.", "now": NOW}
    ready, waiting = join(campaign), start(campaign)
    talking, _ = pair(campaign, now=after(60))
    theirs = shown(talking)
    assert sum(taken(campaign)) == 4
    amendments.pause(campaign=campaign, **more)
    assert (shown(ready), shown(waiting), shown(talking)) == ((), (), theirs)
    assert sum(taken(campaign)) == 2
    amendments.resume(campaign=campaign, **more)
    assert len({shown(ready), shown(waiting), theirs, ()}) == 4
    assert sum(taken(campaign)) == 4


def hold(person: Participation, key: str) -> None:
    """Let a person hold a persona, counted."""
    persona_stack.give_back(read(person))
    persona = Persona.objects.get(campaign=person.campaign, key=key)
    Participation.objects.filter(pk=person.pk).update(persona=persona, persona_counted=True)
    Persona.objects.filter(pk=persona.pk).update(taken=persona.taken + 1)


def test_of_those_who_wait_partners_whose_personas_differ_meet_first() -> None:
    campaign = people_campaign()
    people = alone(campaign, 3)
    for person, key in zip(people, ("p0", "p0", "p1"), strict=True):
        hold(person, key)
    Participation.objects.update(seen_at=after(100))
    (made,) = matching.match(campaign=campaign, now=after(100))
    assert {seat.participation for seat in made.seats.all()} == {people[0], people[2]}
    assert [seat.persona.key for seat in made.seats.all()] == ["p0", "p1"]  # type: ignore[union-attr]


def test_two_who_wait_with_one_persona_do_not_chat_under_it() -> None:
    campaign = people_campaign()
    people = alone(campaign, 2)
    for person in people:
        hold(person, "p0")
    Participation.objects.update(seen_at=after(100))
    (made,) = matching.match(campaign=campaign, now=after(100))
    mine, theirs = (seat.persona for seat in made.seats.all())
    assert mine is not None
    assert mine.key == "p0"
    assert theirs not in (None, mine)
    assert sorted(taken(campaign)) == [0] * 6 + [1, 1]


def test_who_is_left_before_a_word_waits_on_with_their_persona() -> None:
    campaign = people_campaign()
    partner, person = pair(campaign)
    own = shown(person)
    chat.leave(person=partner, now=after(1), because="left")
    assert read(person).state == "WAITING"
    assert shown(person) == own
    assert sum(taken(campaign)) == 1


def test_the_next_conversation_has_a_persona_before_it_begins() -> None:
    campaign = campaign_of(2)
    person = have(go_on(join(campaign)))
    assert read(person).state == "READY"
    next_one = read(person).persona
    first = conversation_of(person).seats.get(participation=person).persona
    assert next_one not in (None, first)
    assert sum(taken(campaign)) == 3
    go_on(read(person))
    assert conversation_of(person).seats.get(participation=person).persona == next_one


def test_who_ends_between_conversations_gives_back_the_next_one() -> None:
    campaign = campaign_of(2)
    person = have(go_on(join(campaign)))
    stopping.stop(person=read(person), now=NOW)
    assert sum(taken(campaign)) == 2


def test_a_persona_that_was_shared_is_not_given_back() -> None:
    """It was not counted; given back, it would come before its turn."""
    campaign = make_campaign()
    person = join(campaign)
    persona_stack.give_back(read(person))
    Persona.objects.update(taken=3)
    Participation.objects.update(persona=Persona.objects.get(key="p0"), persona_counted=False)
    started = enrolment.start(person=read(person), now=NOW)
    assert not conversation_of(person).seats.get(side=0).persona_counted
    stopping.stop(person=started, now=NOW)
    assert taken(campaign) == [3] * POOL


@pytest.mark.parametrize("changes", [{"personas": 0}, {"protocol": "meena_interactive"}])
def test_where_there_is_none_to_draw_nobody_holds_one(changes: dict[str, Any]) -> None:
    assert shown(join(make_campaign(**changes))) == ()


def test_a_persona_is_drawn_once_whoever_asks_again() -> None:
    campaign = make_campaign()
    name = uuid.uuid4().hex
    own = shown(join(campaign, name))
    assert shown(join(campaign, name)) == own
    assert sum(taken(campaign)) == 1


def test_in_a_conversation_a_link_that_is_opened_again_draws_nothing() -> None:
    campaign = make_campaign()
    name = uuid.uuid4().hex
    person = start(campaign, name)
    send_message(person, "Hello there.")
    bot_says(conversation_of(person), "Hello.")
    join(campaign, name)
    assert read(person).persona is None
    assert sum(taken(campaign)) == 2
