"""Questions that several people ask at once are answered with the same few queries, each alone."""

from __future__ import annotations

from datetime import datetime
from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from evaluation.registry import get_protocol, protocol_names
from tests.factories import NOW, make_campaign
from tests.webapp.services.conversation.test_briefs import WATCHED
from tests.webapp.services.people import after, bot_says, conversation_of, join, send_message, start
from webapp.models import Campaign, Event, Participation, ReplyJob
from webapp.services.conversation import chat, opening, updates
from webapp.services.conversation.updates import UpdateRequest
from webapp.services.participation import admission, enrolment
from webapp.services.rating import labels
from webapp.services.rules import access

pytestmark = pytest.mark.django_db
Frame = updates.Frame
CHATS = {name: step for name in protocol_names() if (step := get_protocol(name).chat)}
WITH_BOTS = [name for name, step in CHATS.items() if step.partner != "person"]


def chatting(protocol: str, count: int) -> list[Participation]:
    """Return people who chat in a campaign of the protocol and have a message each to be told."""
    if protocol in WITH_BOTS:
        campaign = make_campaign(protocol, target=count)
        people = [start(campaign) for _ in range(count)]
        first = people
    else:
        campaign = make_campaign(protocol, systems={"humans": "people"}, target=count)
        campaign.personas.update(name="Somebody", group="A series")  # of a protocol of characters
        pairs = [_pair(campaign) for _ in range(count // 2)]
        people = [person for both in pairs for person in both]
        first = people[::2]
    for person in first:
        if conversation_of(person).first_side == 1 and not conversation_of(person).last_seq:
            bot_says(conversation_of(person), "Hello there.")
        send_message(person, "Do you like boats?")
    return people


def _pair(campaign: Campaign) -> tuple[Participation, Participation]:
    """Return two who talk, past the questions that come first."""
    for _ in range(2):
        person = join(campaign)
        admission.answer(person=person, answers=WATCHED, now=NOW)
        enrolment.start(person=Participation.objects.get(pk=person.pk), now=NOW)
    first, second = Participation.objects.order_by("-pk")[:2]
    for one in (second, first):
        opening.meet(person=one, now=NOW)
    return Participation.objects.get(pk=second.pk), Participation.objects.get(pk=first.pk)


def give_up_all() -> None:
    ReplyJob.objects.update(state=ReplyJob.State.FAILED)


def pages(people: list[Participation]) -> list[UpdateRequest]:
    found = []
    for person in people:
        secret = access.new_secret()
        person.secret_hash = access.secret_hash(secret)
        person.save()
        found.append(UpdateRequest(person.campaign.slug, secret, 0, "tab"))
    return found


def statuses(people: list[Participation]) -> list[Frame]:
    found = updates.conversation_updates_all(pages(people), now=NOW)
    return [news[-1] for news in found if not isinstance(news, access.NotFound)]


def query_counts(people: list[Participation], now: datetime) -> list[int]:
    """Return how many queries answer one, two and twenty of the people."""
    counts = []
    for count in (1, 2, 20):
        asked = pages(people[:count])
        with CaptureQueriesContext(connection) as queries:
            found = updates.conversation_updates_all(asked, now=now)
        assert [len(news) > 1 for news in found if isinstance(news, list)] == [True] * count
        counts.append(len(queries))
    return counts


def cost_no_more_for_many(people: list[Participation]) -> None:
    """At once, and when partners are slow or away: for how long we were up is looked at once."""
    for now in (NOW, after(20), after(40)):
        counts = query_counts(people, now)
        assert counts == [counts[0]] * 3


@pytest.mark.parametrize("protocol", CHATS)
def test_two_and_twenty_people_cost_no_more_queries_than_one(protocol: str) -> None:
    people = chatting(protocol, 20)
    cost_no_more_for_many(people)
    if protocol not in WITH_BOTS:
        return
    give_up_all()
    cost_no_more_for_many(people)
    for person in people:
        chat.retry(person=person, client_id=uuid4(), now=NOW)
    give_up_all()
    cost_no_more_for_many(people)


def test_each_is_told_of_their_own_labels() -> None:
    people = chatting("meena_interactive", 3)
    rooms = [conversation_of(person) for person in people]
    openings = [Event.objects.get(conversation=room, in_reply_to=0) for room in rooms]
    for number, (question, value) in enumerate([("sensible", "0"), ("sensible", "1")]):
        labels.label(
            person=people[number],
            event=openings[number],
            question=question,
            value=value,
            revision=1,
            now=NOW,
        )
    wanted = [[], [openings[1].seq], [openings[2].seq]]  # specific is still to be said of the 2nd
    assert [labels.unlabeled(room) for room in rooms] == wanted
    assert [status["unlabeled"] for status in statuses(people)] == wanted
    assert [status["unlabeled"] for status in statuses(people[::-1])] == wanted[::-1]


def test_each_may_ask_once_for_an_answer_that_failed() -> None:
    people = chatting("personachat_bot", 3)
    give_up_all()
    ReplyJob.objects.filter(conversation=conversation_of(people[2])).update(state="QUEUED")
    chat.retry(person=people[0], client_id=uuid4(), now=NOW)
    ReplyJob.objects.filter(conversation=conversation_of(people[0])).update(state="FAILED")
    found = [(status["failed"], status["may_retry"]) for status in statuses(people)]
    assert found == [(True, False), (True, True), (False, False)]


def test_a_later_message_whose_answer_failed_may_be_tried_again() -> None:
    (person,) = chatting("personachat_bot", 1)
    room = conversation_of(person)
    give_up_all()
    chat.retry(person=person, client_id=uuid4(), now=NOW)
    bot_says(room, "I have five.")
    ReplyJob.objects.update(state=ReplyJob.State.DONE)
    send_message(person, "What are they called?")
    ReplyJob.objects.filter(state="QUEUED").update(state="FAILED")
    (status,) = statuses([person])
    assert (status["failed"], status["may_retry"]) == (True, True)
