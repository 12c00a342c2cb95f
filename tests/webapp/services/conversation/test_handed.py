"""A status that is handed over is the one that a look returns, whatever the protocol (R8)."""

from __future__ import annotations

import pytest

from tests.factories import NOW
from tests.webapp.services.conversation.test_update_queries import CHATS, WITH_BOTS, chatting
from tests.webapp.services.people import after, bot_says, conversation_of, send_message
from webapp import realtime
from webapp.models import Participation
from webapp.realtime import Grown
from webapp.services.conversation import handed, updates
from webapp.services.conversation.page_session import PageSession
from webapp.services.rules import access

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("protocol", CHATS)
def test_each_message_is_handed_over_as_a_look_returns_it(
    protocol: str, monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: object
) -> None:
    person, *others = chatting(protocol, 2)
    person = Participation.objects.get(pk=person.pk)
    told: list[Grown] = []
    monkeypatch.setattr(realtime, "tell", told.extend)
    seat = access.seat(person)
    page = PageSession(person, seat.conversation_id, side=seat.side)
    shown = page.status(NOW)
    for number in range(6):  # past a minimum and up to a maximum where there is one
        conversation = conversation_of(person)
        if conversation.maximum is not None and shown["must_finish"]:
            break
        last = conversation.last_seq
        told.clear()
        with django_capture_on_commit_callbacks(execute=True):  # type: ignore[operator]
            if shown["turn"] == "you":
                send_message(person, f"Number {number} of mine.")
            elif protocol in WITH_BOTS:
                bot_says(conversation, f"Number {number} of the bot's.")
            else:
                send_message(others[0], f"Number {number} of theirs.")
        found = handed.frames(told, page.view, shown, last, "en")
        looked = page.updates(last, NOW)
        if page.view.is_labeled:
            assert found is None
        else:
            assert found == looked
        shown = looked[-1]
    assert shown["messages"] > 2


def test_what_only_a_look_can_tell_is_left_to_it() -> None:
    view = handed.View(side=0, is_endless=False, is_labeled=False)
    status: updates.Frame = {"ended": False}
    assert handed.frames([Grown(1, 4)], view, status, 4, "en") == []  # shown already
    assert handed.frames([Grown(1, 5)], view, status, 4, "en") is None  # a hint
    assert handed.frames([Grown(1, 0)], view, status, 4, "en") is None  # a nudge


@pytest.mark.parametrize(
    "writers", [("person",), ("person", "other"), ("person", "other", "person")]
)
def test_several_at_once_are_handed_over_as_a_look_returns_them(
    writers: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: object,
) -> None:
    """A partner who was away is there again with their own message, not with one's own."""
    person, other = chatting("personachat_human", 2)
    send_message(other, "And you?")
    Participation.objects.filter(pk=other.pk).update(seen_at=after(-3600))
    people = {"person": Participation.objects.get(pk=person.pk), "other": other}
    told: list[Grown] = []
    monkeypatch.setattr(realtime, "tell", told.extend)
    seat = access.seat(people["person"])
    page = PageSession(people["person"], seat.conversation_id, side=seat.side)
    shown, last = page.status(NOW), conversation_of(person).last_seq
    assert not shown["present"]
    with django_capture_on_commit_callbacks(execute=True):  # type: ignore[operator]
        for name in writers:
            send_message(people[name], f"This is of {name}.")
    found = handed.frames(told, page.view, shown, last, "en")
    assert found == page.updates(last, NOW)
    assert found is not None
    assert len(found) == len(writers) + 1
