"""Saying, labeling, finishing and leaving: once, in turn, and only when it may be.

Long because all tests need the same conversation, begun in one fixture.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest

from tests import serving
from tests.factories import NOW, make_campaign, make_participation
from webapp import inference
from webapp.models import Conversation, Event, Participation, Persona, ReplyJob
from webapp.services.conversation import chat, opening, updates
from webapp.services.rating import labels
from webapp.services.replies import delivery
from webapp.services.rules import events, refusals, states

P, C = Participation.State, Conversation.State
pytestmark = pytest.mark.django_db


def seated(protocol: str = "personachat_bot", **changes: Any) -> Participation:
    """Return a person who chats with a parrot that does not wait before it answers."""
    fast = {"chat.pace": 0.0} if protocol == "personachat_bot" else {}
    campaign = make_campaign(protocol, changes=fast, **changes)
    person = make_participation(campaign)
    opening.open_with_bot(person=person, system=campaign.systems.get(), now=NOW)
    return person


def pair() -> tuple[Participation, Participation]:
    """Return two people who have met."""
    campaign = make_campaign(
        "personachat_human", systems={"human": "people"}, changes={"rate.sides": "both"}
    )
    first, second = (make_participation(campaign, state=P.MATCHED) for _ in range(2))
    opening.open_with_person(first=first, second=second, system=campaign.systems.get(), now=NOW)
    for person in (first, second):
        opening.meet(person=person, now=NOW)
        person.refresh_from_db()
    return first, second


def send_message(person: Participation, text: str = "I like boats.") -> Event:
    return chat.send_message(person=person, client_id=uuid4(), text=text, now=NOW)


def answer(bot: str = "parrot") -> int:
    return serving.serve(bot=bot, owner="test", respond=inference.respond_here)


def talk(person: Participation, messages: int) -> None:
    """Talk until the conversation has so many messages of both sides."""
    while updates.status(person=person, now=NOW)["messages"] < messages:
        send_message(person)
        answer()


def refusal(action: Callable[[], object]) -> str:
    with pytest.raises(refusals.NotNow) as problem:
        action()
    return problem.value.notice


def test_a_message_is_stored_and_a_reply_owed_in_one_go() -> None:
    """R11: the message's own transaction queues the job."""
    person = seated()
    event = send_message(person)
    job = ReplyJob.objects.get()
    assert (event.seq, event.side, event.content) == (1, 0, {"text": "I like boats."})
    assert (job.in_reply_to, job.bot, job.state) == (1, "parrot", ReplyJob.State.QUEUED)
    assert answer() == 1
    assert [frame["text"] for frame in updates.follow(person=person, after=0)] == [
        "I like boats.",
        "I like boats.",
    ]


def test_a_repeat_is_a_success_even_after_the_answer() -> None:
    """R4: a duplicate returns the first result; the same id with another text is a conflict."""
    person = seated()
    client_id = uuid4()
    first = chat.send_message(person=person, client_id=client_id, text="Hello!", now=NOW)
    again = chat.send_message(person=person, client_id=client_id, text=" Hello! ", now=NOW)
    answer()
    late = chat.send_message(person=person, client_id=client_id, text="Hello!", now=NOW)
    assert first.pk == again.pk == late.pk
    with pytest.raises(events.Conflict):
        chat.send_message(person=person, client_id=client_id, text="Bye!", now=NOW)
    assert (Event.objects.count(), ReplyJob.objects.count()) == (2, 1)


def test_turns_alternate() -> None:
    person = seated()
    send_message(person)
    assert refusal(lambda: send_message(person, "And cars.")) == "not_your_turn"
    answer()
    assert send_message(person, "And cars.").seq == 3


@pytest.mark.parametrize(
    ("text", "notice"),
    [("  \n", "empty"), ("x" * 4001, "too_long"), ("a\0b", "bad_text"), ("\ud800", "bad_text")],
)
def test_what_cannot_be_stored_is_refused(text: str, notice: str) -> None:
    """R24, S2."""
    person = seated()
    assert refusal(lambda: send_message(person, text)) == notice
    assert not Event.objects.exists()


def test_a_message_against_the_rules_is_kept_as_a_draft_that_nobody_sees() -> None:
    person = seated()
    client_id = uuid4()
    long = "word " * 16
    for _ in range(2):
        with pytest.raises(refusals.Refused, match="at most 15 words; this message has 16"):
            chat.send_message(person=person, client_id=client_id, text=long, now=NOW)
    draft = Event.objects.get()
    assert draft.content["refused"] == long.strip()
    (frame,) = updates.follow(person=person, after=0)
    assert {"text", "refused", "complaint"}.isdisjoint(frame)
    assert updates.status(person=person, now=NOW)["messages"] == 0
    assert not ReplyJob.objects.exists()


def test_ones_own_character_is_not_copied() -> None:
    person = seated()
    own = person.seats.get().persona
    assert own is not None
    with pytest.raises(refusals.Refused, match="do not copy your character"):
        send_message(person, own.sentences[0])


def test_a_chat_is_finished_after_its_least_length_and_then_rated() -> None:
    person = seated()
    minimum = Conversation.objects.get().minimum
    talk(person, minimum - 2)
    client_id = uuid4()

    def finish() -> Participation:
        return chat.finish(person=person, client_id=client_id, now=NOW)

    assert refusal(finish) == "too_few"
    talk(person, minimum)
    assert finish().state == P.RATING
    assert finish().state == P.RATING  # a repeat
    assert Conversation.objects.get().state == C.FINISHED
    assert refusal(lambda: send_message(person)) == "not_now"


@pytest.mark.parametrize(("messages", "missing"), [(3, 1), (4, 0), (5, 0)])
def test_the_least_length_is_exact(messages: int, missing: int) -> None:
    person = seated()
    Conversation.objects.update(minimum=4)
    talk(person, messages - messages % 2)
    if messages % 2:
        send_message(person)
    assert updates.status(person=person, now=NOW)["messages"] == messages
    if not missing:
        assert chat.finish(person=person, client_id=uuid4(), now=NOW).state == P.RATING
        return
    with pytest.raises(refusals.NotNow) as problem:
        chat.finish(person=person, client_id=uuid4(), now=NOW)
    assert (problem.value.notice, problem.value.values) == ("too_few", {"count": missing})
    assert Conversation.objects.get().state == C.OPEN


@pytest.mark.parametrize(("maximum", "owed"), [(2, []), (3, [2]), (None, [2])])
def test_no_reply_is_owed_to_the_last_message_allowed(maximum: int | None, owed: list[int]) -> None:
    """After the bot's "Hi!" the person's first message is the second of the conversation."""
    person = seated("meena_interactive")
    Conversation.objects.update(minimum=2, maximum=maximum)
    assert send_message(person).seq == 2
    assert list(ReplyJob.objects.values_list("in_reply_to", flat=True)) == owed
    assert answer() == len(owed)
    status = updates.status(person=person, now=NOW)
    assert (status["messages"], status["must_finish"]) == (2 + len(owed), maximum is not None)


def test_a_reply_to_a_finished_chat_is_dropped() -> None:
    person = seated()
    talk(person, Conversation.objects.get().minimum)
    send_message(person)
    count = Event.objects.count()
    chat.finish(person=person, client_id=uuid4(), now=NOW)
    assert answer() == 0
    assert ReplyJob.objects.latest("id").state == ReplyJob.State.DROPPED
    assert Event.objects.count() == count + 1  # that it is finished


def test_live_labels_are_asked_of_every_message_before_the_end() -> None:
    """R20: the highest revision of a label wins; specific is locked unless sensible."""
    person = seated("meena_interactive")
    assert updates.status(person=person, now=NOW)["messages"] == 1  # the bot's "Hi!"

    def label(seq: int, question: str, value: str, revision: int) -> Event:
        return chat.label(
            person=person,
            client_id=uuid4(),
            seq=seq,
            question=question,
            value=value,
            revision=revision,
            now=NOW,
        )

    with pytest.raises(labels.LabelRefused) as problem:
        label(1, "specific", "1", 1)
    assert problem.value.notice == "locked"
    talk(person, 13)
    status = updates.status(person=person, now=NOW)
    assert len(status["unlabeled"]) == 7
    send_message(person)  # the fourteenth message; the bot may still be thinking
    assert refusal(lambda: chat.finish(person=person, client_id=uuid4(), now=NOW)) == "unlabeled"
    for number, seq in enumerate(status["unlabeled"], start=2):
        label(seq, "sensible", "0", number)
    assert updates.status(person=person, now=NOW)["may_finish"]
    ended = chat.finish(person=person, client_id=uuid4(), now=NOW)
    assert (ended.state, ended.outcome) == (P.ENDED, Participation.Outcome.COMPLETED)


def test_nobody_labels_their_own_message() -> None:
    person = seated("meena_interactive")
    mine = send_message(person)

    def label() -> Event:
        return chat.label(
            person=person,
            client_id=uuid4(),
            seq=mine.seq,
            question="sensible",
            value="1",
            revision=1,
            now=NOW,
        )

    assert refusal(label) == "not_now"


def test_the_longest_chat_ends_by_itself() -> None:
    person = seated("meena_interactive")
    talk(person, 28)
    status = updates.status(person=person, now=NOW)
    assert (status["must_finish"], status["turn"]) == (True, None)
    assert refusal(lambda: send_message(person)) == "not_now"
    assert not ReplyJob.objects.exclude(state=ReplyJob.State.DONE).exists()


def test_two_people_talk_and_each_sees_their_own_side() -> None:
    first, second = pair()
    send_message(first, "Hello there.")
    assert refusal(lambda: send_message(first)) == "not_your_turn"
    send_message(second, "Hello to you.")
    sides = [
        [frame["side"] for frame in updates.follow(person=person, after=0)]
        for person in (first, second)
    ]
    assert sides == [["you", "partner"], ["partner", "you"]]
    assert not ReplyJob.objects.exists()


def test_who_is_left_after_speaking_rates_and_who_is_left_before_waits_again() -> None:
    """R17, R21: nobody loses by their partner's leaving."""
    for spoke, state in ((True, P.RATING), (False, P.WAITING)):
        first, second = pair()
        send_message(first)
        if spoke:
            send_message(second)
        chat.leave(person=first, now=NOW, because="left")
        second.refresh_from_db()
        assert second.state == state
        assert first.seats.get().conversation.state == C.ABANDONED
        assert not any(seat.persona.taken for seat in first.seats.all() if seat.persona)


def test_a_failed_answer_can_be_asked_for_once_more_and_then_ends_with_full_pay() -> None:
    """R13: try again once, or finish, paid."""
    person = seated()
    send_message(person)

    def fail() -> None:
        job = ReplyJob.objects.get()
        assert delivery.give_up(job, "no answer in time")

    fail()
    status = updates.status(person=person, now=NOW)
    assert (status["failed"], status["may_retry"]) == (True, True)
    chat.retry(person=person, client_id=uuid4(), now=NOW)
    assert ReplyJob.objects.get().state == ReplyJob.State.QUEUED
    fail()
    assert not updates.status(person=person, now=NOW)["may_retry"]
    assert refusal(lambda: chat.retry(person=person, client_id=uuid4(), now=NOW)) == "not_now"
    client_id = uuid4()
    for _ in range(2):
        ended = chat.give_up(person=person, client_id=client_id, now=NOW)
        assert (ended.outcome, ended.code.kind) == (Participation.Outcome.FAILED, "FULL")
    assert Conversation.objects.get().state == C.FAILED


def test_giving_up_leaves_nobody_seated_and_gives_the_personas_back() -> None:
    person = seated(personas=2)
    conversation = Conversation.objects.get()
    send_message(person)
    assert delivery.give_up(ReplyJob.objects.get(), "no answer in time")
    assert conversation.seats.filter(active=True).count() == 2
    assert set(Persona.objects.values_list("taken", flat=True)) == {1}
    chat.give_up(person=person, client_id=uuid4(), now=NOW)
    assert not conversation.seats.filter(active=True).exists()
    assert set(Persona.objects.values_list("taken", flat=True)) == {0}
    other = make_participation(person.campaign)
    opening.open_with_bot(person=other, system=conversation.system, now=NOW)
    assert set(Persona.objects.values_list("taken", flat=True)) == {1}


def test_frames_do_not_tell_what_the_partner_is() -> None:
    """S11: a bot's conversation and a person's look alike."""
    person = seated()
    talk(person, 2)
    first, second = pair()
    send_message(first)
    send_message(second)
    keys = [
        [sorted(frame) for frame in updates.conversation_updates(person=one, after=0, now=NOW)]
        for one in (person, first)
    ]
    assert keys[0] == keys[1]
    shown = str(updates.conversation_updates(person=person, after=0, now=NOW))
    assert "parrot" not in shown
    assert "alpha" not in shown


def test_the_ready_check_opens_when_both_are_there() -> None:
    """R17."""
    campaign = make_campaign(
        "personachat_human", systems={"human": "people"}, changes={"rate.sides": "both"}
    )
    first, second = (make_participation(campaign, state=P.MATCHED) for _ in range(2))
    opening.open_with_person(first=first, second=second, system=campaign.systems.get(), now=NOW)
    assert opening.meet(person=first, now=NOW).state == C.CHECKING
    assert opening.meet(person=first, now=NOW).state == C.CHECKING
    assert opening.meet(person=second, now=NOW).state == C.OPEN
    assert {P.CHATTING} == set(Participation.objects.values_list("state", flat=True))
    with pytest.raises(states.Illegal):
        opening.open_with_bot(person=first, system=campaign.systems.get(), now=NOW)
