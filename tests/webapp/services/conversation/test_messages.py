"""Messages of many at once: each is checked by itself and stored in its own conversation (R4)."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from django.conf import settings

from evaluation.sentences import Sentence
from tests.factories import NOW, make_campaign, make_participation
from tests.webapp.services.people import after, bot_says, conversation_of, pair, send_message, start
from webapp.models import Conversation, Event, Participation, ReplyJob
from webapp.services.conversation import messages
from webapp.services.rules import access, events
from webapp.services.rules.refusals import NotNow, Refused

pytestmark = pytest.mark.django_db
MOST = settings.MAX_MESSAGE_CHARACTERS


def send(
    person: Participation, text: str, *, id: uuid.UUID | None = None, conversation: int = 0
) -> messages.OutgoingMessage:
    return messages.OutgoingMessage(person.pk, id or uuid.uuid4(), text, conversation)


def one(message: messages.OutgoingMessage, seconds: float = 0) -> Any:
    """Store one message and return what came of it."""
    (found,) = messages.send_all([message], now=after(seconds))
    return found


def notice(message: messages.OutgoingMessage) -> str:
    found = one(message)
    assert isinstance(found, NotNow)
    return found.notice


def chatting() -> Participation:
    """Return somebody who chats with a bot that takes any text."""
    person = start(make_campaign("meena_interactive"))
    assert person.state == "CHATTING"
    return person


def test_the_longest_message_is_taken_whole_and_one_letter_more_is_not() -> None:
    """R24, S2: the limit is of what is stored, without the blanks around it."""
    person = chatting()
    found = one(send(person, "x" * (MOST + 1)))
    assert (found.notice, found.values) == ("too_long", {"limit": MOST})
    event = one(send(person, f"  {'x' * MOST}\n"))
    assert event.content == {"text": "x" * MOST}
    bot_says(conversation_of(person), "Hm.")
    assert one(send(person, "x" * (MOST - 1))).seq == 4


@pytest.mark.parametrize("code", [0xD800, 0xDABC, 0xDFFF, 0])
def test_text_that_no_database_takes_is_refused(code: int) -> None:
    """R24: the first, one between, and the last of the lone surrogates; and NUL."""
    assert notice(send(chatting(), f"ok {chr(code)}")) == "bad_text"
    assert Event.objects.count() == 1  # the opening


@pytest.mark.parametrize("code", [0xD7FF, 0xE000, 0x1F642, 1])
def test_text_beside_the_forbidden_is_taken(code: int) -> None:
    text = f"ok {chr(code)}"
    assert one(send(chatting(), text)).content == {"text": text}


def test_messages_of_many_go_each_to_its_own_conversation_and_bot() -> None:
    """R11: one bad message of a batch does not touch the others."""
    first, second, third = chatting(), chatting(), chatting()
    found = messages.send_all(
        [send(first, "One."), send(second, " "), send(third, "Three.")], now=NOW
    )
    assert [type(each) for each in found] == [Event, NotNow, Event]
    for person, text in ((first, "One."), (third, "Three.")):
        event = conversation_of(person).events.get(side=0)
        assert (event.content, event.seq, event.kind) == ({"text": text}, 2, "message")
    jobs = ReplyJob.objects.order_by("conversation_id").values_list("conversation", "in_reply_to")
    assert list(jobs) == [(conversation_of(one).pk, 2) for one in (first, third)]


def test_one_message_sent_twice_in_one_batch_is_stored_once() -> None:
    person = chatting()
    message = send(person, "Hello.")
    first, again, other = messages.send_all(
        [message, message, send(person, "Bye.", id=message.client_id)], now=NOW
    )
    assert isinstance(first, Event)
    assert first == again
    assert isinstance(other, events.Conflict)
    assert str(other) == "used twice at once with different contents"
    assert conversation_of(person).events.filter(side=0).count() == 1


def test_two_messages_of_one_batch_come_one_after_the_other() -> None:
    """What is planned counts: of two in a row by one person the second is out of turn."""
    person = chatting()
    first, second = messages.send_all([send(person, "One."), send(person, "Two.")], now=NOW)
    assert isinstance(first, Event)
    assert isinstance(second, NotNow)
    assert second.notice == "not_your_turn"


def test_two_people_of_a_conversation_answer_each_other_within_a_batch() -> None:
    first, second = pair(make_campaign("meena_human", systems={"humans": "people"}, personas=0))
    found = messages.send_all([send(first, "One."), send(second, "Two.")], now=NOW)
    assert [one.seq for one in found if isinstance(one, Event)] == [1, 2]
    assert not ReplyJob.objects.exists()


def test_a_client_id_is_ones_own() -> None:
    """R4: two people may use one id; the repeat of each finds its own entry."""
    first, second = pair(make_campaign("meena_human", systems={"humans": "people"}, personas=0))
    elsewhere = chatting()
    key = uuid.uuid4()
    made = [
        one(send(person, text, id=key))
        for person, text in ((first, "One."), (second, "Two."), (elsewhere, "Three."))
    ]
    assert len({event.pk for event in made}) == 3
    again = [
        one(send(person, text, id=key))
        for person, text in ((first, "One."), (second, "Two."), (elsewhere, "Three."))
    ]
    assert again == made


def test_a_refused_draft_is_kept_once_and_counts_for_nothing() -> None:
    person = start(make_campaign())
    message = send(person, "word " * 16)
    for _ in range(2):
        refused = one(message)
        assert isinstance(refused, Refused)
        assert "at most 15 words" in refused.complaint
    draft = Event.objects.get()
    assert (draft.kind, draft.side, draft.client_id) == ("state", 0, message.client_id)
    assert set(draft.content) == {"refused", "complaint"}
    first, second = messages.send_all([message, send(person, "Short.")], now=NOW)
    assert isinstance(first, Refused)
    assert isinstance(second, Event)
    assert ReplyJob.objects.get().in_reply_to == second.seq == 2


def test_a_refusal_can_be_said_in_every_language() -> None:
    """Its words are kept in one, and made anew by the check: its values are translated, too."""
    person = start(make_campaign())
    message = send(person, "word " * 16)
    for _ in range(2):
        refused = one(message)
        assert isinstance(refused, Refused)
        assert isinstance(refused.complaint, Sentence)
    assert type(Event.objects.get().content["complaint"]) is str


def test_a_side_without_a_character_has_nothing_to_copy() -> None:
    person = start(make_campaign())
    own = person.seats.get().persona
    assert own is not None
    assert isinstance(one(send(person, own.sentences[0])), Refused)
    person.seats.update(persona=None)
    assert isinstance(one(send(person, own.sentences[0])), Event)


@pytest.mark.parametrize("state", ["FINISHED", "ABANDONED", "FAILED", "CHECKING"])
def test_nothing_is_said_in_a_conversation_that_is_not_open(state: str) -> None:
    person = chatting()
    Conversation.objects.update(state=state)
    assert notice(send(person, "Hello.")) == "not_now"


@pytest.mark.parametrize(
    "changes", [{"state": "RATING"}, {"withdrawn_at": NOW}], ids=["rates", "withdrew"]
)
def test_nothing_is_said_by_who_does_not_chat_any_more(changes: dict[str, Any]) -> None:
    """S14: also not by a page that was open while its person withdrew."""
    person = chatting()
    Participation.objects.filter(pk=person.pk).update(**changes)
    assert notice(send(person, "Hello.")) == "not_now"


def test_a_conversation_that_is_not_ones_own_is_not_found() -> None:
    person, stranger = chatting(), chatting()
    found = one(send(stranger, "Hello.", conversation=conversation_of(person).pk))
    assert isinstance(found, access.NotFound)
    assert str(found) == f"conversation of participation {stranger.pk}"
    alone = make_participation(make_campaign(personas=0))
    assert isinstance(one(send(alone, "Hello.")), access.NotFound)


def test_the_conversation_that_a_page_names_comes_before_the_active_one() -> None:
    chatting()  # so that no conversation of the person is the first of all
    person = chatting()
    room = conversation_of(person)
    assert one(send(person, "Hello.", conversation=room.pk)).conversation == room
    bot_says(room, "Hello to you.")
    unnamed = messages.OutgoingMessage(person.pk, uuid.uuid4(), "And more.")
    assert one(unnamed).conversation == room
    assert unnamed.seat_key == (person.pk, 0)


@pytest.mark.parametrize(("seconds", "noted"), [(4.9, False), (5.0, False), (5.1, True)])
def test_a_message_is_a_sign_of_life_of_who_sent_it(seconds: float, noted: bool) -> None:
    """R9: written at most every five seconds, for who sent it and nobody else."""
    person, beside = chatting(), chatting()
    one(send(person, "Hello."), seconds)
    for each, at in ((person, after(seconds) if noted else NOW), (beside, NOW)):
        each.refresh_from_db()
        assert each.seen_at == at


def test_in_a_conversation_without_messages_the_first_side_begins() -> None:
    first, second = pair(make_campaign("meena_human", systems={"humans": "people"}, personas=0))
    assert notice(send(second, "Hello.")) == "not_your_turn"
    assert one(send(first, "Hello.")).seq == 1
    send_message(second, "Hello to you.")
    assert notice(send(second, "And more.")) == "not_your_turn"


def test_a_repeat_beside_messages_of_others_is_its_own_entry() -> None:
    """R4."""
    first, second = chatting(), chatting()
    again = send(second, "Hello.")
    found: Any = messages.send_all([send(first, "Hi."), again, again], now=NOW)
    assert [each.content["text"] for each in found] == ["Hi.", "Hello.", "Hello."]
    assert found[1] == found[2] != found[0]


def test_messages_that_an_earlier_version_did_not_count_are_counted() -> None:
    person = chatting()
    one(send(person, "Hi."))
    bot_says(conversation_of(person), "Hello.")
    Conversation.objects.update(maximum=2, messages_0=0, messages_1=0, counted_seq=0)
    assert notice(send(person, "One too many.")) == "not_now"


def test_of_two_at_once_the_second_is_not_ones_turn_however_few_may_be_sent() -> None:
    person = chatting()
    Conversation.objects.update(maximum=3)
    first, second = messages.send_all([send(person, "Hi."), send(person, "And?")], now=NOW)
    assert isinstance(first, Event)
    assert isinstance(second, NotNow)
    assert second.notice == "not_your_turn"
