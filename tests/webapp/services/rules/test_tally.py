"""Counts on a conversation's row: always what the log says, and found out where they are not."""

from __future__ import annotations

import io
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from tests.factories import make_campaign
from tests.webapp.services.people import (
    bot_says,
    conversation_of,
    pair,
    people_campaign,
    send_message,
    start,
)
from webapp.models import Conversation, Event
from webapp.services.conversation import updates
from webapp.services.ops import verifying
from webapp.services.rules import events, tally

pytestmark = pytest.mark.django_db


def talked() -> Conversation:
    """Return a conversation with a person's two messages and one of the bot's, the last."""
    person = start(make_campaign("meena_interactive"))
    conversation = conversation_of(person)  # the bot opens
    send_message(person, "Do you like boats?")
    bot_says(conversation_of(person), "I have five.")
    events.append(conversation=conversation, kind="notice", content={"notice": "no_answer"})
    return conversation_of(person)


def counts(conversation: Conversation) -> tuple[Any, ...]:
    return tuple(getattr(conversation, name) for name in tally.COLUMNS)


def test_messages_are_counted_per_side_and_notices_are_not() -> None:
    conversation = talked()
    last = Event.objects.get(conversation=conversation, seq=3)
    assert counts(conversation) == (4, 4, 1, 2, 3, 1, last.made_at)
    assert list(tally.faults()) == []


def test_what_another_version_appended_is_counted_before_it_is_used() -> None:
    """It raises last_seq and knows no counts."""
    person, partner = pair(people_campaign())
    send_message(person, "Hello.")
    conversation = conversation_of(person)
    Event.objects.create(
        conversation=conversation, seq=2, kind="message", side=1, content={"text": "Good day."}
    )
    Conversation.objects.filter(pk=conversation.pk).update(last_seq=2)
    assert updates.status(person=person, now=conversation.started_at)["messages"] == 2
    assert send_message(person, "It is my turn.").seq == 3
    assert counts(conversation_of(partner))[:6] == (3, 3, 2, 1, 3, 0)
    assert list(tally.faults()) == []


@pytest.mark.parametrize("name", list(tally.COLUMNS)[2:])
def test_verify_names_each_count_that_differs(name: str) -> None:
    conversation = talked()
    wrong = conversation.started_at if name == "last_message_at" else 0
    Conversation.objects.filter(pk=conversation.pk).update(**{name: wrong})
    out = io.StringIO()
    with pytest.raises(CommandError) as end:
        call_command("verify", stdout=out)
    assert end.value.returncode == 1
    (line,) = out.getvalue().splitlines()
    words = f"conversation {conversation.pk}: {name} is {wrong}, the log says "
    assert words in line
    assert line.startswith(f"campaign {conversation.campaign_id} ")


def test_verify_finds_an_entry_that_is_missing() -> None:
    conversation = talked()
    Event.objects.filter(conversation=conversation, seq=4).delete()
    assert list(tally.faults()) == [
        f"conversation {conversation.pk}: last_seq is 4, the log has 3 entries up to 3"
    ]


def test_verify_says_that_all_is_well() -> None:
    talked()
    out = io.StringIO()
    call_command("verify", stdout=out)
    assert out.getvalue() == f"no fault by {len(verifying.CHECKS)} checks\n"
