"""A page is of one conversation, also when its person is in the next one already (R7, R10)."""

from __future__ import annotations

from uuid import uuid4

import pytest

from tests.webapp.services.people import after, conversation_of, pair, people_campaign, say, start
from webapp import exchange
from webapp.frames import Frame
from webapp.models import Conversation, Participation
from webapp.services import access, chat, following, opening, pairing, saying
from webapp.services.following import Asked

pytestmark = pytest.mark.django_db
NOW, LATER = after(0), after(1)
Moved = tuple[Participation, Conversation, Conversation]


def moved_on() -> Moved:
    """Return somebody whose partner left before they spoke, with that talk and the next one."""
    campaign = people_campaign()
    partner, person = pair(campaign)
    say(partner, "Hello, I sail.")
    before = conversation_of(person)
    chat.leave(person=partner, now=NOW, because="left")
    start(campaign, now=LATER)
    pairing.match(campaign=campaign, now=LATER)
    for seat in conversation_of(person).seats.all():
        assert seat.participation is not None
        opening.meet(person=seat.participation, now=LATER)
    person.refresh_from_db()
    before.refresh_from_db()
    now = conversation_of(person)
    assert (person.state, before.state, now.state) == ("CHATTING", "ABANDONED", "OPEN")
    assert before != now
    return person, before, now


def frames(person: Participation, room: Conversation, **frame: object) -> list[Frame]:
    return exchange.act(page=exchange.Page(person, room.pk, "tab"), frame=frame, now=LATER)


def test_the_old_page_is_told_its_own_conversation_to_the_end() -> None:
    person, before, now = moved_on()
    say_first(now, "This is the next one.")
    first, left, status, ready = frames(person, before, type="sync", last_seen=0)
    assert (first["text"], left["state"]) == ("Hello, I sail.", "left")
    assert status["ended"]
    assert ready["last_seen"] == 2
    (text, status, _) = frames(person, now, type="sync", last_seen=0)
    assert text["text"] == "This is the next one."
    assert not status["ended"]


def say_first(room: Conversation, text: str) -> None:
    seat = room.seats.get(side=0)
    assert seat.participation is not None
    say(seat.participation, text)


@pytest.mark.parametrize(
    "frame",
    [
        {"type": "say", "text": "To the first partner."},
        {"type": "finish"},
        {"type": "retry"},
        {"type": "give_up"},
        {"type": "label", "seq": 1, "question": "sensible", "value": "1", "revision": 1},
    ],
    ids=lambda frame: frame["type"],
)
def test_what_the_old_page_sends_does_not_reach_the_next_conversation(
    frame: dict[str, object],
) -> None:
    person, before, now = moved_on()
    say_first(now, "This is the next one.")
    (answer,) = frames(person, before, id=str(uuid4()), **frame)
    assert (answer["type"], answer["code"]) == ("refused", "not_now")
    now.refresh_from_db()
    assert (now.state, now.last_seq) == ("OPEN", 1)


def test_a_repeat_from_the_old_page_gets_its_first_result() -> None:
    """R4."""
    campaign = people_campaign()
    person, partner = pair(campaign)
    room, item = conversation_of(person), uuid4()
    said = saying.Saying(person.pk, item, "Hello.", room.pk)
    first, second = saying.say_all([said, said], now=NOW)
    chat.leave(person=partner, now=NOW, because="left")
    (third,) = saying.say_all([said], now=LATER)
    assert first == second == third


def test_two_people_of_a_conversation_are_told_at_once_what_each_has_not_seen() -> None:
    """R7: who has seen more does not hide what the other has not seen."""
    campaign = people_campaign()
    people = pair(campaign)
    for number in range(4):
        say(people[number % 2], f"This is number {number}.")
    pages = []
    for person, seen in zip(people, (0, 3), strict=True):
        secret = access.new_secret()
        person.secret_hash = access.secret_hash(secret)
        person.save()
        pages.append(Asked(campaign.slug, secret, seen, "tab"))
    for asked in (pages, pages[::-1]):
        found = following.news_all(asked, now=NOW)
        seqs = {
            page.after: [one["seq"] for one in news if one["type"] == "event"]
            for page, news in zip(asked, found, strict=True)
            if not isinstance(news, access.NotFound)
        }
        assert seqs == {0: [1, 2, 3, 4], 3: [4]}


def test_a_page_is_of_the_seat_that_it_was_drawn_for() -> None:
    person, before, now = moved_on()
    for room in (before, now):
        seat = room.seats.get(participation=person)
        assert access.seat_of_talk(person, access.talk_of(seat)).conversation == room
    assert access.seat_of_talk(person, "").conversation == now
    other = now.seats.exclude(participation=person).get()
    for talk in (access.talk_of(other), "nothing", "ñ"):
        with pytest.raises(access.NotFound):
            access.seat_of_talk(person, talk)


def test_who_has_no_seat_in_a_conversation_does_nothing_there() -> None:
    person, _, _ = moved_on()
    stranger, _ = pair(people_campaign())
    room = conversation_of(person)
    with pytest.raises(access.NotFound):
        chat.finish(person=stranger, client_id=uuid4(), now=NOW, room=room.pk)
    (refused,) = saying.say_all([saying.Saying(stranger.pk, uuid4(), "Hi.", room.pk)], now=NOW)
    assert isinstance(refused, access.NotFound)
