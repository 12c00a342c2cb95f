"""Labels while chatting: the highest revision wins, and specific follows sensible (R20, ME-P2).

Long because all tests share one chat with its labels.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.factories import NOW, make_campaign, make_participation
from tests.webapp.services.people import after, bot_says, conversation_of, send_message, start
from webapp.models import Assignment, Campaign, Event, Participation, Rating
from webapp.services.rating import labels

pytestmark = pytest.mark.django_db


class Chat:
    """A person who chats with a bot and has two of its messages to label."""

    def __init__(self, campaign: Campaign) -> None:
        self.person: Participation = start(campaign)
        self.conversation = conversation_of(self.person)
        self.opening = Event.objects.get(conversation=self.conversation, in_reply_to=0)
        send_message(self.person, "hello")
        self.conversation.refresh_from_db()
        self.reply = bot_says(self.conversation, "I like boats.")

    def label(self, question: str, value: str, revision: int, event: Event | None = None) -> Rating:
        return labels.label(
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
    assert labels.unlabeled(chat.conversation) == [chat.opening.seq, chat.reply.seq]
    with pytest.raises(labels.LabelRefused) as refusal:
        chat.label("specific", "1", 1)
    assert refusal.value.notice == "locked"
    chat.label("sensible", "1", 2)
    assert labels.unlabeled(chat.conversation) == [chat.opening.seq, chat.reply.seq]
    chat.label("specific", "1", 3)
    assert labels.unlabeled(chat.conversation) == [chat.opening.seq]


def test_not_sensible_is_not_specific_without_asking(chat: Chat) -> None:
    chat.label("sensible", "0", 1)
    assert chat.answers() == {"sensible": 0, "specific": 0}
    assert labels.unlabeled(chat.conversation) == [chat.opening.seq]
    with pytest.raises(labels.LabelRefused):
        chat.label("specific", "1", 2)


@pytest.mark.parametrize("revision", [0, 1, 2])
def test_what_follows_has_the_revision_of_what_it_follows(chat: Chat, revision: int) -> None:
    chat.label("sensible", "0", revision)
    assert Rating.objects.get(question="specific").revision == revision


def test_taking_sensible_back_supersedes_specific_and_asks_again_later(chat: Chat) -> None:
    for revision, (question, value) in enumerate(
        [("sensible", "1"), ("specific", "1"), ("sensible", "0")], start=1
    ):
        chat.label(question, value, revision)
    assert chat.answers() == {"sensible": 0, "specific": 0}
    assert Rating.objects.filter(question="specific").count() == 2
    chat.label("sensible", "1", 4)
    assert chat.reply.seq in labels.unlabeled(chat.conversation)
    chat.label("specific", "0", 5)
    assert chat.reply.seq not in labels.unlabeled(chat.conversation)


def test_the_highest_revision_wins_though_it_came_first(chat: Chat) -> None:
    chat.label("sensible", "1", 8)
    chat.label("specific", "1", 9)
    chat.label("sensible", "0", 3)
    assert chat.answers() == {"sensible": 1, "specific": 1}
    assert Rating.objects.count() == 3


def test_a_repeat_is_a_success_and_another_value_a_conflict(chat: Chat) -> None:
    first = chat.label("sensible", "1", 5)
    assert chat.label("sensible", "1", 5) == first
    with pytest.raises(labels.LabelConflict):
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
    with pytest.raises(labels.LabelRefused) as refusal:
        chat.label(question, value, 1)
    assert question in str(refusal.value) or repr(value) in str(refusal.value)
    assert not Rating.objects.exists()


def test_only_the_partners_messages_are_labeled(chat: Chat) -> None:
    own = Event.objects.get(conversation=chat.conversation, side=0)
    with pytest.raises(labels.LabelRefused):
        chat.label("sensible", "1", 1, own)


def test_the_opening_is_left_out_where_the_campaign_says_so() -> None:
    chat = Chat(make_campaign("meena_interactive", changes={"rate.label_opening": False}))
    assert labels.unlabeled(chat.conversation) == [chat.reply.seq]
    with pytest.raises(labels.LabelRefused):
        chat.label("sensible", "1", 1, chat.opening)


def test_the_form_closes_once_everything_is_labeled(chat: Chat) -> None:
    closing: dict[str, Any] = {"person": chat.person, "conversation": chat.conversation, "now": NOW}
    with pytest.raises(labels.LabelRefused) as refusal:
        labels.finish(**closing)
    assert refusal.value.notice == "unlabeled"
    chat.label("sensible", "0", 1)
    chat.label("sensible", "0", 2, chat.opening)
    labels.finish(**closing)
    assignment = Assignment.objects.get()
    assert assignment.state == "DONE"
    assert assignment.item.completed == 1
    with pytest.raises(labels.LabelRefused):
        chat.label("sensible", "1", 3)


# --- at the edges


def test_what_is_written_of_a_label(chat: Chat) -> None:
    beside = Chat(chat.person.campaign)
    rating = chat.label("sensible", "1", 7)
    assert rating == Rating.objects.get()
    assert (rating.question, rating.value, rating.revision) == ("sensible", 1, 7)
    assert (rating.made_at, rating.follows) == (NOW, False)
    assert rating.assignment.participation == chat.person
    assert (rating.candidate.seq, rating.candidate.item) == (2 + 1, rating.assignment.item)
    assert len(labels.unlabeled(beside.conversation)) == 2


def test_what_follows_is_marked_and_stands_above_what_was_there(chat: Chat) -> None:
    """R20: it has the revision of the answer it follows from, unless that one came late."""
    chat.label("sensible", "0", 4)
    follows = Rating.objects.get(question="specific")
    assert (follows.value, follows.revision, follows.follows) == (0, 4, True)
    assert (follows.made_at, follows.candidate.seq) == (NOW, chat.reply.seq)
    assert follows.assignment == Assignment.objects.get()
    chat.label("sensible", "1", 5)
    chat.label("specific", "1", 9)
    chat.label("sensible", "0", 6)
    last = Rating.objects.filter(question="specific").latest("revision")
    assert (last.value, last.revision, last.follows) == (0, 10, True)


def test_a_late_no_below_the_valid_answer_changes_nothing_that_follows(chat: Chat) -> None:
    chat.label("sensible", "1", 5)
    chat.label("specific", "1", 6)
    chat.label("sensible", "0", 4)
    assert not Rating.objects.filter(follows=True).exists()


def test_an_answer_to_one_message_neither_opens_nor_closes_another(chat: Chat) -> None:
    chat.label("sensible", "1", 1, chat.opening)
    with pytest.raises(labels.LabelRefused) as refusal:
        chat.label("specific", "1", 2)
    assert (refusal.value.notice, str(refusal.value)) == ("locked", "locked")
    chat.label("sensible", "0", 3)
    chat.label("specific", "1", 4, chat.opening)
    assert labels.unlabeled(chat.conversation) == []
    answers = Rating.objects.filter(candidate__seq=chat.opening.seq).values_list("value", flat=True)
    assert list(answers) == [1, 1]


def test_what_somebody_else_answered_about_a_message_does_not_count(chat: Chat) -> None:
    chat.label("sensible", "0", 3)
    theirs = Assignment.objects.get()
    candidate = Rating.objects.all()[0].candidate
    stranger = make_participation(chat.person.campaign)
    other = Assignment.objects.create(item=theirs.item, participation=stranger, place=0)
    for question, revision in (("sensible", 9), ("specific", 1)):
        Rating.objects.create(
            assignment=other, candidate=candidate, question=question, value=1, revision=revision
        )
    with pytest.raises(labels.LabelRefused):
        chat.label("specific", "1", 10)
    assert chat.label("specific", "0", 3).follows
    assert chat.label("sensible", "1", 4).assignment == theirs


def test_one_revision_may_be_used_for_two_messages_and_two_questions(chat: Chat) -> None:
    chat.label("sensible", "1", 1)
    assert chat.label("specific", "0", 1).value == 0
    assert chat.label("sensible", "0", 1, chat.opening).value == 0
    assert Rating.objects.count() == 4  # and what follows from the last one


def test_the_last_answer_counts_though_it_did_not_come_last(chat: Chat) -> None:
    chat.label("sensible", "0", 9)
    chat.label("sensible", "1", 3)
    with pytest.raises(labels.LabelRefused):
        chat.label("specific", "1", 10)
    assert labels.unlabeled(chat.conversation) == [chat.opening.seq]


@pytest.mark.parametrize(
    ("question", "value", "says"),
    [
        ("funny", "1", "question: 'funny' is not one of sensible, specific"),
        ("sensible", "2", "value: '2'; "),
    ],
)
def test_a_complaint_names_the_field_the_value_and_what_would_be_right(
    chat: Chat, question: str, value: str, says: str
) -> None:
    with pytest.raises(labels.LabelRefused) as refusal:
        chat.label(question, value, 1)
    assert refusal.value.notice == "bad_frame"
    assert refusal.value.complaint.startswith(says)


def test_an_own_message_is_named_in_the_complaint(chat: Chat) -> None:
    own = Event.objects.get(conversation=chat.conversation, side=0)
    with pytest.raises(labels.LabelRefused) as refusal:
        chat.label("sensible", "1", 1, own)
    assert refusal.value.notice == "not_now"
    assert f"seq: {own.seq} is not a message of the partner's" in refusal.value.complaint


def test_a_conflict_says_which_revision_has_another_value(chat: Chat) -> None:
    chat.label("sensible", "1", 5)
    with pytest.raises(labels.LabelConflict, match="revision 5 has another value") as refusal:
        chat.label("sensible", "0", 5)
    assert refusal.value.notice == "changed_elsewhere"


@pytest.mark.parametrize("state", ["DONE", "RELEASED"])
def test_a_form_that_is_closed_takes_no_label(chat: Chat, state: str) -> None:
    Assignment.objects.update(state=state)
    with pytest.raises(labels.LabelRefused) as refusal:
        chat.label("sensible", "1", 1)
    assert refusal.value.notice == "not_now"


def test_nobody_labels_in_a_conversation_of_others(chat: Chat) -> None:
    """S1."""
    stranger = Chat(chat.person.campaign)
    stranger.reply = chat.reply
    with pytest.raises(labels.LabelRefused) as refusal:
        stranger.label("sensible", "1", 1)
    assert refusal.value.notice == "not_now"


def test_where_nothing_is_labeled_nothing_wants_a_label() -> None:
    chat = Chat.__new__(Chat)
    chat.person = start(make_campaign())
    chat.conversation = conversation_of(chat.person)
    assert labels.unlabeled(chat.conversation) == []
    send_message(chat.person, "hello")
    chat.conversation.refresh_from_db()
    chat.reply = bot_says(chat.conversation, "I like boats.")
    with pytest.raises(labels.LabelRefused) as refusal:
        chat.label("sensible", "1", 1)
    assert refusal.value.notice == "not_now"


def test_closing_the_form_is_done_once_and_for_ones_own(chat: Chat) -> None:
    """R19: of a repeat nothing is counted twice, and another's form stays open."""
    beside = Chat(chat.person.campaign)
    for revision, event in enumerate((chat.opening, chat.reply), start=1):
        chat.label("sensible", "0", revision, event)
    for seconds in (0, 9):
        labels.finish(person=chat.person, conversation=chat.conversation, now=after(seconds))
    form = Assignment.objects.get(participation=chat.person)
    assert (form.state, form.done_at) == ("DONE", NOW)
    assert (form.item.completed, form.item.reserved) == (1, 0)
    other = Assignment.objects.get(participation=beside.person)
    assert (other.state, other.item.completed, other.item.reserved) == ("RESERVED", 0, 1)


def test_closing_leaves_the_form_of_somebody_else_about_it_open(chat: Chat) -> None:
    for revision, event in enumerate((chat.opening, chat.reply), start=1):
        chat.label("sensible", "0", revision, event)
    form = Assignment.objects.get()
    type(form.item).objects.update(target=2, reserved=2)
    beside = make_participation(chat.person.campaign)
    other = Assignment.objects.create(item=form.item, participation=beside, place=0)
    labels.finish(person=chat.person, conversation=chat.conversation, now=NOW)
    for each in (form, other):
        each.refresh_from_db()
    assert (form.state, other.state) == ("DONE", "RESERVED")
    assert (form.item.completed, form.item.reserved) == (1, 1)


def test_closing_is_counted_once_though_another_place_of_the_item_is_reserved(chat: Chat) -> None:
    for revision, event in enumerate((chat.opening, chat.reply), start=1):
        chat.label("sensible", "0", revision, event)
    form = Assignment.objects.get()
    type(form.item).objects.update(target=3, reserved=3)
    for _ in range(2):
        labels.finish(person=chat.person, conversation=chat.conversation, now=NOW)
    form.item.refresh_from_db()
    assert (form.item.completed, form.item.reserved) == (1, 2)


def test_a_form_of_the_end_takes_no_labels_of_messages() -> None:
    """The two forms of a conversation are told apart by their key."""
    chat = Chat(make_campaign("meena_interactive"))
    type(Assignment.objects.get().item).objects.update(key="c:1:after")
    assert labels.unlabeled(chat.conversation) == []
