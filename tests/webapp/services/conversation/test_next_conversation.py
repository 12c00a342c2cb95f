"""A page is of one conversation, also when its person is in the next one already (R7, R10)."""

from __future__ import annotations

import json
from uuid import uuid4

import pytest

from tests.webapp.services.people import (
    after,
    conversation_of,
    pair,
    people_campaign,
    send_message,
    start,
)
from webapp.models import Conversation, Participation
from webapp.services.conversation import chat, matching, messages, opening, updates
from webapp.services.conversation.page_session import PageSession
from webapp.services.conversation.updates import UpdateRequest
from webapp.services.rules import access
from webapp.sockets import exchange
from webapp.sockets.frames import Answer, parse

pytestmark = pytest.mark.django_db
NOW, LATER = after(0), after(1)
Moved = tuple[Participation, Conversation, Conversation]


def moved_on() -> Moved:
    """Return somebody whose partner left before they spoke, with both conversations."""
    campaign = people_campaign()
    partner, person = pair(campaign)
    send_message(partner, "Hello, I sail.")
    before = conversation_of(person)
    chat.leave(person=partner, now=NOW, because="left")
    start(campaign, now=LATER)
    matching.match(campaign=campaign, now=LATER)
    for seat in conversation_of(person).seats.all():
        assert seat.participation is not None
        opening.meet(person=seat.participation, now=LATER)
    person.refresh_from_db()
    before.refresh_from_db()
    now = conversation_of(person)
    assert (person.state, before.state, now.state) == ("CHATTING", "ABANDONED", "OPEN")
    assert before != now
    return person, before, now


def frames(person: Participation, conversation: Conversation, **fields: object) -> list[Answer]:
    page = PageSession(person, conversation.pk, "tab")
    return exchange.act(page=page, frame=parse(json.dumps(fields)), now=LATER)


def test_the_old_page_is_told_its_own_conversation_to_the_end() -> None:
    person, before, now = moved_on()
    send_first(now, "This is the next one.")
    first, left, status, ready = frames(person, before, type="sync", last_seq=0)
    assert (first["text"], left["state"]) == ("Hello, I sail.", "left")
    assert status["ended"]
    assert ready["last_seq"] == 2
    (text, status, _) = frames(person, now, type="sync", last_seq=0)
    assert text["text"] == "This is the next one."
    assert not status["ended"]


def send_first(conversation: Conversation, text: str) -> None:
    seat = conversation.seats.get(side=0)
    assert seat.participation is not None
    send_message(seat.participation, text)


@pytest.mark.parametrize(
    "frame",
    [
        {"type": "message", "text": "To the first partner."},
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
    send_first(now, "This is the next one.")
    (answer,) = frames(person, before, id=str(uuid4()), **frame)
    assert (answer["type"], answer["code"]) == ("refused", "not_now")
    now.refresh_from_db()
    assert (now.state, now.last_seq) == ("OPEN", 1)


def test_a_repeat_from_the_old_page_gets_its_first_result() -> None:
    """R4."""
    campaign = people_campaign()
    person, partner = pair(campaign)
    conversation, item = conversation_of(person), uuid4()
    message = messages.OutgoingMessage(person.pk, item, "Hello.", conversation.pk)
    first, second = messages.send_all([message, message], now=NOW)
    chat.leave(person=partner, now=NOW, because="left")
    (third,) = messages.send_all([message], now=LATER)
    assert first == second == third


def test_two_people_of_a_conversation_are_told_at_once_what_each_has_not_seen() -> None:
    """R7: who has seen more does not hide what the other has not seen."""
    campaign = people_campaign()
    people = pair(campaign)
    for number in range(4):
        send_message(people[number % 2], f"This is number {number}.")
    pages = []
    for person, last_seq in zip(people, (0, 3), strict=True):
        secret = access.new_secret()
        person.secret_hash = access.secret_hash(secret)
        person.save()
        pages.append(UpdateRequest(campaign.slug, secret, last_seq, "tab"))
    for requests in (pages, pages[::-1]):
        found = updates.conversation_updates_all(requests, now=NOW)
        seqs = {
            page.after: [one["seq"] for one in each if one["type"] == "event"]
            for page, each in zip(requests, found, strict=True)
            if not isinstance(each, access.NotFound)
        }
        assert seqs == {0: [1, 2, 3, 4], 3: [4]}


def test_a_page_is_of_the_seat_that_it_was_drawn_for() -> None:
    person, before, now = moved_on()
    for conversation in (before, now):
        seat = conversation.seats.get(participation=person)
        assert (
            access.seat_by_key(person, access.conversation_key(seat)).conversation == conversation
        )
    assert access.seat_by_key(person, "").conversation == now
    other = now.seats.exclude(participation=person).get()
    for key in (access.conversation_key(other), "nothing", "ñ"):
        with pytest.raises(access.NotFound):
            access.seat_by_key(person, key)


def test_who_has_no_seat_in_a_conversation_does_nothing_there() -> None:
    person, _, _ = moved_on()
    stranger, _ = pair(people_campaign())
    conversation = conversation_of(person)
    with pytest.raises(access.NotFound):
        chat.finish(person=stranger, client_id=uuid4(), now=NOW, conversation_id=conversation.pk)
    (refused,) = messages.send_all(
        [messages.OutgoingMessage(stranger.pk, uuid4(), "Hi.", conversation.pk)], now=NOW
    )
    assert isinstance(refused, access.NotFound)


def test_who_leaves_ends_the_conversation_that_they_are_in() -> None:
    person, before, now = moved_on()
    chat.leave(person=person, now=LATER, because="left")
    for conversation in (before, now):
        conversation.refresh_from_db()
    assert (before.ended_at, now.state, now.ended_at) == (NOW, "ABANDONED", LATER)
