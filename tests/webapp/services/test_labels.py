"""Labels while chatting: the highest revision wins, and specific follows sensible (R20, ME-P2)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.factories import NOW, make_campaign
from tests.webapp.services.people import bot_says, conversation_of, say, start
from webapp.models import Assignment, Campaign, Event, Participation, Rating
from webapp.services import rating

pytestmark = pytest.mark.django_db


class Chat:
    """A person who chats with a bot and has two of its messages to label."""

    def __init__(self, campaign: Campaign) -> None:
        self.person: Participation = start(campaign)
        self.conversation = conversation_of(self.person)
        self.opening = Event.objects.get(conversation=self.conversation, in_reply_to=0)
        say(self.person, "hello")
        self.conversation.refresh_from_db()
        self.reply = bot_says(self.conversation, "I like boats.")

    def label(self, question: str, value: str, revision: int, event: Event | None = None) -> Rating:
        return rating.label(
            person=self.person,
            event=event or self.reply,
            question=question,
            value=value,
            revision=revision,
            now=NOW,
        )

    def answers(self) -> dict[str, object]:
        """The valid answers about the reply: those of the highest revisions."""
        rows = Rating.objects.filter(candidate__seq=self.reply.seq).order_by("revision")
        return {row.question: row.value for row in rows}


@pytest.fixture
def chat() -> Chat:
    return Chat(make_campaign("meena_interactive"))


def test_a_message_is_labeled_with_two_answers_in_sequence(chat: Chat) -> None:
    assert rating.unlabeled(chat.conversation) == [chat.opening.seq, chat.reply.seq]
    with pytest.raises(rating.Refused) as refusal:
        chat.label("specific", "1", 1)
    assert refusal.value.notice == "locked"
    chat.label("sensible", "1", 2)
    assert rating.unlabeled(chat.conversation) == [chat.opening.seq, chat.reply.seq]
    chat.label("specific", "1", 3)
    assert rating.unlabeled(chat.conversation) == [chat.opening.seq]


def test_not_sensible_is_not_specific_without_asking(chat: Chat) -> None:
    chat.label("sensible", "0", 1)
    assert chat.answers() == {"sensible": 0, "specific": 0}
    assert rating.unlabeled(chat.conversation) == [chat.opening.seq]
    with pytest.raises(rating.Refused):
        chat.label("specific", "1", 2)


def test_taking_sensible_back_supersedes_specific_and_asks_again_later(chat: Chat) -> None:
    for revision, (question, value) in enumerate(
        [("sensible", "1"), ("specific", "1"), ("sensible", "0")], start=1
    ):
        chat.label(question, value, revision)
    assert chat.answers() == {"sensible": 0, "specific": 0}
    assert Rating.objects.filter(question="specific").count() == 2
    chat.label("sensible", "1", 4)
    assert chat.reply.seq in rating.unlabeled(chat.conversation)
    chat.label("specific", "0", 5)
    assert chat.reply.seq not in rating.unlabeled(chat.conversation)


def test_the_highest_revision_wins_though_it_came_first(chat: Chat) -> None:
    chat.label("sensible", "1", 8)
    chat.label("specific", "1", 9)
    chat.label("sensible", "0", 3)
    assert chat.answers() == {"sensible": 1, "specific": 1}
    assert Rating.objects.count() == 3


def test_a_repeat_is_a_success_and_another_value_a_conflict(chat: Chat) -> None:
    first = chat.label("sensible", "1", 5)
    assert chat.label("sensible", "1", 5) == first
    with pytest.raises(rating.Conflict):
        chat.label("sensible", "0", 5)
    assert Rating.objects.count() == 1


def test_a_late_repeat_of_specific_succeeds_after_sensible_was_taken_back(chat: Chat) -> None:
    chat.label("sensible", "1", 1)
    first = chat.label("specific", "1", 2)
    chat.label("sensible", "0", 3)
    assert chat.label("specific", "1", 2) == first
    assert chat.answers() == {"sensible": 0, "specific": 0}


@pytest.mark.parametrize(
    ("question", "value"),
    [("funny", "1"), ("sensible", "2"), ("sensible", ""), ("sensible", "yes")],
)
def test_what_is_not_asked_or_no_answer_is_refused(chat: Chat, question: str, value: str) -> None:
    with pytest.raises(rating.Refused) as refusal:
        chat.label(question, value, 1)
    assert question in str(refusal.value) or repr(value) in str(refusal.value)
    assert not Rating.objects.exists()


def test_only_the_partners_messages_are_labeled(chat: Chat) -> None:
    own = Event.objects.get(conversation=chat.conversation, side=0)
    with pytest.raises(rating.Refused):
        chat.label("sensible", "1", 1, own)


def test_the_opening_is_left_out_where_the_campaign_says_so() -> None:
    chat = Chat(make_campaign("meena_interactive", changes={"rate.label_opening": False}))
    assert rating.unlabeled(chat.conversation) == [chat.reply.seq]
    with pytest.raises(rating.Refused):
        chat.label("sensible", "1", 1, chat.opening)


def test_the_form_closes_once_everything_is_labeled(chat: Chat) -> None:
    closing: dict[str, Any] = {"person": chat.person, "conversation": chat.conversation, "now": NOW}
    with pytest.raises(rating.Refused) as refusal:
        rating.finish_live(**closing)
    assert refusal.value.notice == "unlabeled"
    chat.label("sensible", "0", 1)
    chat.label("sensible", "0", 2, chat.opening)
    rating.finish_live(**closing)
    assignment = Assignment.objects.get()
    assert assignment.state == "DONE"
    assert assignment.item.completed == 1
    with pytest.raises(rating.Refused):
        chat.label("sensible", "1", 3)
