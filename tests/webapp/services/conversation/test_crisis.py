"""S13: words that suggest a crisis show their writer where help is, and are told to staff."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from django.utils import translation

from tests.factories import NOW, make_campaign
from tests.webapp.services.people import conversation_of, pair, people_campaign, send_message, start
from tests.webapp.views.visiting import good_answers, rating_visit
from webapp.models import Campaign, Event, Participation, ProblemReport
from webapp.services.conversation import chat, crisis, updates
from webapp.services.monitoring import monitor, problem_reports
from webapp.services.participation import privacy
from webapp.services.rules import events

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    "words",
    [
        "Some days I want to die.",
        "i WANNA  die tbh",
        "I don’t want to live like this",
        "thinking of self-harm again",
        "feeling suicidal",
        "Ich will nicht mehr leben",
        "je veux mourir",
        "No quiero vivir",
        "أريد أن أموت",
    ],
)
def test_phrases_are_found_in_every_language_however_they_are_written(words: str) -> None:
    assert crisis.suggests(words, Campaign())


@pytest.mark.parametrize(
    "words",
    [
        "Hello!",
        "That show is to die for",
        "my diet",
        "I want to diet",
        "the dead sea",
        "I cut bread",
    ],
)
def test_other_words_show_nothing(words: str) -> None:
    assert not crisis.suggests(words, Campaign())


def test_phrases_of_a_campaign_and_the_server_are_added(settings: Any) -> None:
    campaign = Campaign(crisis_phrases="no way out\n\nhopeless*")
    assert crisis.suggests("There is no way out", campaign)
    assert crisis.suggests("such hopelessness", campaign)
    assert not crisis.suggests("There is no way out", Campaign())
    settings.CRISIS_PHRASES = ["at the end of my rope"]
    assert crisis.suggests("I am at the end of my rope.", Campaign())


def shown(person: Participation, side: int, language: str = "en") -> list[str]:
    """Return the notices that one side reads in the log."""
    room = conversation_of(person)
    frames = [updates.event_frame(each, side, language) for each in room.events.order_by("seq")]
    return [frame["notice"] for frame in frames if frame["kind"] == "notice"]


def test_the_writer_is_shown_help_once_the_partner_nothing_and_the_chat_goes_on() -> None:
    first, second = pair(people_campaign())
    send_message(first, "I want to die.")
    sides = {person.pk: person.seats.get().side for person in (first, second)}
    assert len(shown(first, sides[first.pk])) == 1
    assert "findahelpline.com" in shown(first, sides[first.pk])[0]
    assert "Notruf" in shown(first, sides[first.pk], "de")[0]
    assert shown(first, sides[second.pk]) == []
    hidden = Event.objects.get(kind="notice")
    assert updates.event_frame(hidden, sides[second.pk])["side"] is None
    send_message(second, "Oh. Why?")
    send_message(first, "I really want to die.")
    assert len(shown(first, sides[first.pk])) == 1, "once"
    assert conversation_of(first).state == "OPEN"
    assert {row.text for row in ProblemReport.objects.all()} == {
        "I want to die.",
        "I really want to die.",
    }


def test_each_side_is_shown_help_of_its_own_whatever_else_it_is_told() -> None:
    both = pair(people_campaign())
    room = conversation_of(both[0])
    for person in both:
        side = person.seats.get().side
        events.append(conversation=room, kind="notice", content={"notice": "slow"}, side=side)
    for person in both:
        send_message(person, "I want to die.")
    found = Event.objects.filter(kind="notice", content__notice="crisis")
    assert list(found.order_by("side").values_list("side", flat=True)) == [0, 1]


def test_staff_are_told_at_once_and_a_bots_turn_comes_as_ever() -> None:
    campaign = make_campaign(target=2)
    person = start(campaign)
    message = send_message(person, "I want to kill myself.")
    job = conversation_of(person).jobs.get()
    assert job.in_reply_to == message.seq
    (alarm,) = (each for each in monitor.alarms(campaign, NOW) if each.name == "crisis")
    assert (alarm.level, alarm.where) == ("danger", "problem-reports")
    (row,) = problem_reports.listed(campaign, {}).object_list
    assert (row.is_crisis, row.text, row.step) == (True, "I want to kill myself.", "chatting")
    again = chat.send_message(
        person=person,
        client_id=message.client_id or uuid.uuid4(),
        text="I want to kill myself.",
        now=NOW,
    )
    assert again.seq == message.seq
    assert ProblemReport.objects.count() == 1
    privacy.withdraw(token=privacy.withdraw_token(person), now=NOW)
    assert not ProblemReport.objects.exists()
    assert Event.objects.get(kind="notice").content == {"withdrawn": True}
    assert shown(person, 0) == []


def test_the_campaigns_text_stands_before_the_servers_and_ours(settings: Any) -> None:
    settings.CRISIS_TEXTS = {"de": "Ruf uns an: 0800."}
    campaign = make_campaign(target=2)
    for language in ("de", "de-at"):
        with translation.override(language):
            assert crisis.text(campaign) == "Ruf uns an: 0800."
    person = start(campaign)
    send_message(person, "I want to die.")
    assert shown(person, 0, "de") == ["Ruf uns an: 0800."]
    assert "findahelpline.com" in shown(person, 0, "en")[0]
    own = make_campaign(target=2, crisis_text="Call 1-2-3.")
    assert crisis.text(own) == "Call 1-2-3."
    writer = start(own)
    send_message(writer, "I want to die.")
    assert shown(writer, 0, "de") == ["Call 1-2-3."]


def test_words_of_a_form_are_looked_through_too() -> None:
    visit = rating_visit()
    page = visit.post("problem", {"text": "I hurt myself, and nobody sees it."})
    assert "findahelpline.com" in page.content.decode()
    kinds = sorted(ProblemReport.objects.values_list("kind", flat=True))
    assert kinds == ["crisis", "reported"]
    page = visit.post("rate", good_answers(visit.get()))
    assert "findahelpline.com" not in page.content.decode()


def test_staff_are_told_of_each_person_and_where_it_was_said() -> None:
    """However much somebody else has said, and whether it was in these very words."""
    one, other = (start(make_campaign()) for _ in range(2))
    for number in range(11):
        crisis.tell_staff(person=one, text=f"I want to die. {number}", now=NOW)
    assert ProblemReport.objects.count() == 10
    for _ in range(2):
        crisis.tell_staff(
            person=other, text="I want to die. 0", now=NOW, conversation=conversation_of(other)
        )
    found = ProblemReport.objects.get(participation=other)
    assert (found.text, found.conversation) == ("I want to die. 0", conversation_of(other))
