"""Who writes first: as the protocol says, or as the conversation's seed draws it (X-P2)."""

from __future__ import annotations

from uuid import uuid4

import pytest
from django.db.models import F

from tests import serving
from tests.factories import NOW, make_campaign, make_participation
from tests.webapp.services.people import after, conversation_of, pair, send_message
from webapp import inference
from webapp.models import Conversation, Event, Participation, ReplyJob
from webapp.services.conversation import chat, opening, updates
from webapp.services.data import conversation_records
from webapp.services.replies import delivery, queue
from webapp.services.rules import protocols
from webapp.services.rules.refusals import NotNow

pytestmark = pytest.mark.django_db
DRAWN = "nine_questions"
WORDS = "Here are my own words."


def chats(count: int, protocol: str = DRAWN) -> list[tuple[Participation, Conversation]]:
    """Return people and the conversation with a bot that was opened for each."""
    campaign = make_campaign(protocol, target=count, personas=2 * count)
    people = [make_participation(campaign) for _ in range(count)]
    system = campaign.systems.get()
    return [(p, opening.open_with_bot(person=p, system=system, now=NOW)) for p in people]


def begun_by(side: int) -> tuple[Participation, Conversation]:
    return next(pair for pair in chats(12) if pair[1].first_side == side)


def turn(person: Participation) -> str:
    person.refresh_from_db()
    return str(updates.status(person=person, now=after(1))["turn"])


def serve() -> int:
    return serving.serve(bot="parrot", owner="test", respond=inference.respond_here)


def test_a_draw_gives_both_sides_about_as_often_and_the_same_for_the_same_seed() -> None:
    found = [conversation for _, conversation in chats(60)]
    sides = [conversation.first_side for conversation in found]
    assert set(sides) == {0, 1}
    assert 18 <= sum(sides) <= 42  # a fair coin is outside once in a thousand times
    step = protocols.protocol_of(found[0].campaign).chat
    assert step is not None
    assert [opening._first_side(one.campaign, step, one.seed) for one in found] == sides


def test_a_bot_that_begins_owes_its_first_message_and_the_person_waits_for_it() -> None:
    person, conversation = begun_by(1)
    job = conversation.jobs.get()
    assert (job.in_reply_to, job.state, job.bot) == (0, "QUEUED", "parrot")
    assert turn(person) == "partner"
    with pytest.raises(NotNow, match="not_your_turn"):
        send_message(person, WORDS)
    ReplyJob.objects.exclude(pk=job.pk).delete()
    assert serve() == 1
    ReplyJob.objects.filter(pk=job.pk).update(due_at=NOW)
    delivery.deliver_due()
    first = conversation.events.get(kind=Event.Kind.MESSAGE)
    assert (first.seq, first.side, first.in_reply_to) == (1, 1, 0)
    assert turn(person) == "you"
    assert send_message(person, WORDS).seq == 2


def test_a_person_who_begins_waits_for_nobody_and_no_reply_is_owed() -> None:
    person, conversation = begun_by(0)
    assert not conversation.jobs.exists()
    assert turn(person) == "you"
    assert send_message(person, WORDS).seq == 1
    assert conversation.jobs.get().in_reply_to == 1


def test_a_first_message_that_fails_can_be_asked_for_once_more() -> None:
    person, conversation = begun_by(1)
    failed = {"state": "FAILED", "attempt": queue.ATTEMPTS}
    ReplyJob.objects.update(**failed)
    status = updates.status(person=person, now=after(1))
    assert (status["failed"], status["may_retry"]) == (True, True)
    chat.retry(person=person, client_id=uuid4(), now=after(2))
    assert conversation.jobs.get().state == "QUEUED"
    ReplyJob.objects.filter(attempt=F("attempt")).update(**failed)
    status = updates.status(person=person, now=after(3))
    assert (status["failed"], status["may_retry"]) == (True, False)


@pytest.mark.parametrize(
    ("protocol", "side"), [("personachat_bot", 0), ("meena_interactive", 1), ("convai2_crowd", 0)]
)
def test_without_a_draw_it_is_the_side_that_the_protocol_names(protocol: str, side: int) -> None:
    assert {conversation.first_side for _, conversation in chats(8, protocol)} == {side}


def test_of_two_people_either_may_be_the_one_who_begins() -> None:
    campaign = make_campaign(DRAWN, systems={"humans": "people"}, personas=60, target=60)
    begun: set[int] = set()
    for _ in range(12):
        two = pair(campaign)
        side = conversation_of(two[0]).first_side
        with pytest.raises(NotNow, match="not_your_turn"):
            send_message(two[1 - side], WORDS)
        assert send_message(two[side], WORDS).side == side
        assert [turn(two[side]), turn(two[1 - side])] == ["partner", "you"]
        begun.add(side)
    assert begun == {0, 1}


def test_the_export_says_who_began() -> None:
    found = chats(6)
    records = list(conversation_records.conversations(found[0][1].campaign))
    assert [one["first_side"] for one in records] == [one.first_side for _, one in found]
