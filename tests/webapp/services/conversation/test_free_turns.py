"""Free turns, labels that may be left out, idle ends, endless chats, and what bots must not say."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

import pytest
from django.db.models.functions import Now

from bots import Reply, Turn
from tests import serving
from tests.factories import NOW, make_campaign
from tests.webapp.services.people import after, bot_says, conversation_of, send_message, start
from webapp.inference import Answers
from webapp.models import Event, Participation, Rating, ReplyJob
from webapp.services.conversation import chat, messages, updates
from webapp.services.ops import sweeper
from webapp.services.rating import labels
from webapp.services.rules.refusals import NotNow

pytestmark = pytest.mark.django_db
IDLE = 600


def volunteer(protocol: str = "convai2_wild") -> Participation:
    person = start(make_campaign(protocol))
    assert person.state == "CHATTING"
    return person


def saying(*texts: str) -> Any:
    """Return a bot that says these texts, one after the other."""
    left = list(texts)

    def respond(bot: str, options: Mapping[str, Any], turns: Sequence[Turn]) -> Answers:
        return Answers([Reply(left.pop(0)) for _ in turns], {})

    return respond


def serve(*texts: str) -> None:
    ReplyJob.objects.update(lease_until=None)
    serving.serve(bot="parrot", owner="w", respond=saying(*texts))


def turn_of(person: Participation) -> tuple[Any, Any]:
    status = updates.status(person=person, now=NOW)
    return status["turn"], status["free"]


def test_several_messages_in_a_row_are_each_answered_once() -> None:
    """R11: none waits for the reply to another."""
    person = volunteer()
    for text in ("Hi", "Hello?", "Anybody there?"):
        send_message(person, text)
    assert turn_of(person) == ("partner", True)
    serve("One.", "Two.", "Three.")
    replies = Event.objects.filter(side=1, kind="message").order_by("seq")
    assert [reply.in_reply_to for reply in replies] == [1, 2, 3]
    assert turn_of(person) == ("you", True)


def test_where_turns_alternate_the_second_message_is_refused() -> None:
    person = start(make_campaign("meena_interactive"))
    send_message(person, "Hi")
    with pytest.raises(NotNow, match="not_your_turn"):
        send_message(person, "Hello?")


def test_two_messages_that_arrive_at_once_are_both_taken() -> None:
    person = volunteer()
    both = [messages.OutgoingMessage(person.pk, uuid.uuid4(), text) for text in ("Hi", "Hello?")]
    found = messages.send_all(both, now=NOW)
    assert [getattr(one, "seq", one) for one in found] == [1, 2]
    assert ReplyJob.objects.count() == 2


@pytest.mark.parametrize(("maximum", "taken", "owed"), [(5, 3, 2), (6, 3, 3), (7, 4, 3)])
def test_replies_to_come_count_towards_the_maximum(maximum: int, taken: int, owed: int) -> None:
    person = start(make_campaign("convai2_wild", changes={"chat.maximum": maximum}))
    for number in range(taken):
        send_message(person, f"Number {number}")
    with pytest.raises(NotNow, match="not_now"):
        send_message(person, "One more")
    assert ReplyJob.objects.count() == owed
    serve(*map(str, range(owed)))
    assert Event.objects.filter(kind="message").count() == maximum
    assert updates.status(person=person, now=NOW)["must_finish"]


@pytest.mark.parametrize(("maximum", "taken", "owed"), [(5, 3, 2), (6, 3, 3), (7, 4, 3)])
def test_replies_to_come_count_where_the_messages_arrive_at_once(
    maximum: int, taken: int, owed: int
) -> None:
    person = start(make_campaign("convai2_wild", changes={"chat.maximum": maximum}))
    sent = [messages.OutgoingMessage(person.pk, uuid.uuid4(), str(number)) for number in range(5)]
    found = messages.send_all(sent, now=NOW)
    assert sum(isinstance(each, Event) for each in found) == taken
    assert ReplyJob.objects.count() == owed


def test_a_reply_that_has_come_is_none_to_come() -> None:
    person = start(make_campaign("convai2_wild", changes={"chat.maximum": 4}))
    send_message(person, "Hi")
    serve("Hello.")
    send_message(person, "How are you?")
    assert ReplyJob.objects.filter(state="QUEUED").count() == 1


def test_help_is_shown_once_for_words_that_arrive_at_once() -> None:
    """S13."""
    person = volunteer()
    both = [
        messages.OutgoingMessage(person.pk, uuid.uuid4(), text)
        for text in ("I want to die.", "I really want to die.")
    ]
    messages.send_all(both, now=NOW)
    assert Event.objects.filter(kind="notice").count() == 1


def test_labels_can_be_given_and_left_out() -> None:
    person = volunteer()
    send_message(person, "Hi")
    conversation = conversation_of(person)
    good, unlabeled = bot_says(conversation, "Hi there!"), bot_says(conversation, "Eh.")
    assert updates.status(person=person, now=NOW)["unlabeled"] == []
    answer: dict[str, Any] = {"question": "good", "value": "1", "revision": 1}
    chat.label(person=person, client_id=uuid.uuid4(), seq=good.seq, now=NOW, **answer)
    assert labels.unlabeled(conversation) == []
    chat.finish(person=person, client_id=uuid.uuid4(), now=NOW)
    person.refresh_from_db()
    assert person.state == "RATING"
    assert unlabeled.seq not in Rating.objects.values_list("candidate__seq", flat=True)


def test_a_copied_profile_is_not_shown_and_another_reply_is_asked_for() -> None:
    person = volunteer()
    seat = conversation_of(person).seats.get(side=1)
    send_message(person, "Who are you?")
    serve(f"Well, {seat.sentences[0].upper()}")
    frames = updates.conversation_updates(person=person, after=0, now=NOW)
    assert [frame.get("text") for frame in frames if frame["type"] == "event"] == [
        "Who are you?",
        None,
    ]
    draft = Event.objects.get(kind="state", side=1)
    assert draft.content["refused"].startswith("Well, I OWN BOAT")
    serve("I have a boat.")
    assert Event.objects.get(side=1, kind="message").content == {"text": "I have a boat."}


def test_a_bot_that_only_copies_is_given_up_after_three_attempts() -> None:
    """R13: the person is told, may go on, and is sent nothing of the profile."""
    person = volunteer()
    copied = conversation_of(person).seats.get(side=1).sentences[0]
    send_message(person, "Who are you?")
    for _ in range(3):
        serve(copied)
    assert ReplyJob.objects.get().state == "FAILED"
    assert not Event.objects.filter(side=1, kind="message").exists()
    assert updates.status(person=person, now=NOW)["failed"]
    send_message(person, "Never mind.")


@pytest.mark.parametrize(
    ("seconds", "state"), [(599, "CHATTING"), (600, "RATING"), (601, "RATING")]
)
def test_ten_minutes_without_a_message_end_the_chat(seconds: int, state: str) -> None:
    person = volunteer()
    send_message(person, "Hi")
    Event.objects.update(made_at=NOW)
    sweeper.tick(after(seconds))
    sweeper.tick(after(seconds))
    person.refresh_from_db()
    assert person.state == state
    conversation = conversation_of(person)
    ended = ("", "OPEN") if state == "CHATTING" else ("idle", "FINISHED")
    assert (conversation.ended_because, conversation.state) == ended
    assert (person.notice == "idle") is (state == "RATING")


def test_who_wrote_nothing_has_left_and_may_come_back() -> None:
    person = volunteer()
    sweeper.tick(after(IDLE))
    person.refresh_from_db()
    assert (person.state, person.outcome) == ("ENDED", "LEFT")


def test_a_message_at_the_last_moment_keeps_the_chat_open() -> None:
    person = volunteer()
    send_message(person, "Hi")
    Event.objects.update(made_at=NOW + timedelta(seconds=1))
    sweeper.tick(after(IDLE))
    person.refresh_from_db()
    assert person.state == "CHATTING"


# --- endless ----------------------------------------------------------------------------------


def test_an_endless_chat_waits_for_its_person_for_months() -> None:
    person = volunteer("live_engagement")
    send_message(person, "Hi")
    serve("Hello.")
    sweeper.tick(after(200 * 24 * 3600))
    person.refresh_from_db()
    assert person.state == "CHATTING"
    assert not updates.status(person=person, now=NOW)["may_finish"]
    with pytest.raises(NotNow, match="not_now"):
        chat.finish(person=person, client_id=uuid.uuid4(), now=NOW)
    send_message(person, "Me again.")
    assert ReplyJob.objects.filter(queued_at__lte=Now()).count() == 2


def test_who_reads_the_instructions_of_an_endless_chat_and_goes_has_left() -> None:
    person = volunteer("live_engagement")
    Participation.objects.update(state="READY")
    sweeper.tick(after(1801))
    person.refresh_from_db()
    assert person.outcome == "LEFT"
