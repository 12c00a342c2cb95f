"""Saying, labeling, finishing and leaving: once, in turn, and only when it may be.

Long because all tests need the same conversation, begun in one fixture.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest

from tests.factories import NOW, make_campaign, make_participation
from webapp import inference
from webapp.models import Conversation, Event, Participation, ReplyJob
from webapp.services import (
    chat,
    delivery,
    events,
    following,
    labels,
    opening,
    refusals,
    serving,
    states,
)

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
    campaign = make_campaign("personachat_human", systems={"human": "people"})
    first, second = (make_participation(campaign, state=P.MATCHED) for _ in range(2))
    opening.open_with_person(first=first, second=second, system=campaign.systems.get(), now=NOW)
    for person in (first, second):
        opening.meet(person=person, now=NOW)
        person.refresh_from_db()
    return first, second


def say(person: Participation, text: str = "I like boats.") -> Event:
    return chat.say(person=person, client_id=uuid4(), text=text, now=NOW)


def answer(bot: str = "parrot") -> int:
    return serving.serve(bot=bot, owner="test", respond=inference.respond_here)


def talk(person: Participation, messages: int) -> None:
    """Talk until the conversation has so many messages of both sides."""
    while following.status(person=person, now=NOW)["messages"] < messages:
        say(person)
        answer()


def refusal(action: Callable[[], object]) -> str:
    with pytest.raises(refusals.NotNow) as problem:
        action()
    return problem.value.notice


def test_a_message_is_stored_and_a_reply_owed_in_one_go() -> None:
    """R11: the message's own transaction queues the job."""
    person = seated()
    event = say(person)
    job = ReplyJob.objects.get()
    assert (event.seq, event.side, event.content) == (1, 0, {"text": "I like boats."})
    assert (job.in_reply_to, job.bot, job.state) == (1, "parrot", ReplyJob.State.QUEUED)
    assert answer() == 1
    assert [frame["text"] for frame in following.follow(person=person, after=0)] == [
        "I like boats.",
        "I like boats.",
    ]


def test_a_repeat_is_a_success_even_after_the_answer() -> None:
    """R4: a duplicate returns the first result; the same id with another text is a conflict."""
    person = seated()
    client_id = uuid4()
    first = chat.say(person=person, client_id=client_id, text="Hello!", now=NOW)
    again = chat.say(person=person, client_id=client_id, text=" Hello! ", now=NOW)
    answer()
    late = chat.say(person=person, client_id=client_id, text="Hello!", now=NOW)
    assert first.pk == again.pk == late.pk
    with pytest.raises(events.Conflict):
        chat.say(person=person, client_id=client_id, text="Bye!", now=NOW)
    assert (Event.objects.count(), ReplyJob.objects.count()) == (2, 1)


def test_turns_alternate() -> None:
    person = seated()
    say(person)
    assert refusal(lambda: say(person, "And cars.")) == "not_your_turn"
    answer()
    assert say(person, "And cars.").seq == 3


@pytest.mark.parametrize(
    ("text", "notice"),
    [("  \n", "empty"), ("x" * 4001, "too_long"), ("a\0b", "bad_text"), ("\ud800", "bad_text")],
)
def test_what_cannot_be_stored_is_refused(text: str, notice: str) -> None:
    """R24, S2."""
    person = seated()
    assert refusal(lambda: say(person, text)) == notice
    assert not Event.objects.exists()


def test_a_message_against_the_rules_is_kept_as_a_draft_that_nobody_sees() -> None:
    person = seated()
    client_id = uuid4()
    long = "word " * 16
    for _ in range(2):
        with pytest.raises(refusals.Refused, match="at most 15 words; this message has 16"):
            chat.say(person=person, client_id=client_id, text=long, now=NOW)
    draft = Event.objects.get()
    assert draft.content["refused"] == long.strip()
    (frame,) = following.follow(person=person, after=0)
    assert {"text", "refused", "complaint"}.isdisjoint(frame)
    assert following.status(person=person, now=NOW)["messages"] == 0
    assert not ReplyJob.objects.exists()


def test_ones_own_character_is_not_copied() -> None:
    person = seated()
    own = person.seats.get().persona
    assert own is not None
    with pytest.raises(refusals.Refused, match="do not copy your character"):
        say(person, own.sentences[0])


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
    assert refusal(lambda: say(person)) == "not_now"


def test_a_reply_to_a_finished_chat_is_dropped() -> None:
    person = seated()
    talk(person, Conversation.objects.get().minimum)
    say(person)
    count = Event.objects.count()
    chat.finish(person=person, client_id=uuid4(), now=NOW)
    assert answer() == 0
    assert ReplyJob.objects.latest("id").state == ReplyJob.State.DROPPED
    assert Event.objects.count() == count + 1  # that it is finished


def test_live_labels_are_asked_of_every_message_before_the_end() -> None:
    """R20: the highest revision of a label wins; specific is locked unless sensible."""
    person = seated("meena_interactive")
    assert following.status(person=person, now=NOW)["messages"] == 1  # the bot's "Hi!"

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

    with pytest.raises(labels.Refused) as problem:
        label(1, "specific", "1", 1)
    assert problem.value.notice == "locked"
    talk(person, 13)
    status = following.status(person=person, now=NOW)
    assert len(status["unlabelled"]) == 7
    say(person)  # the fourteenth message; the bot may still be thinking
    assert refusal(lambda: chat.finish(person=person, client_id=uuid4(), now=NOW)) == "unlabeled"
    for number, seq in enumerate(status["unlabelled"], start=2):
        label(seq, "sensible", "0", number)
    assert following.status(person=person, now=NOW)["may_finish"]
    ended = chat.finish(person=person, client_id=uuid4(), now=NOW)
    assert (ended.state, ended.outcome) == (P.ENDED, Participation.Outcome.COMPLETED)


def test_nobody_labels_their_own_message() -> None:
    person = seated("meena_interactive")
    mine = say(person)

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
    status = following.status(person=person, now=NOW)
    assert (status["must_finish"], status["turn"]) == (True, None)
    assert refusal(lambda: say(person)) == "not_now"
    assert not ReplyJob.objects.exclude(state=ReplyJob.State.DONE).exists()


def test_two_people_talk_and_each_sees_their_own_side() -> None:
    first, second = pair()
    say(first, "Hello there.")
    assert refusal(lambda: say(first)) == "not_your_turn"
    say(second, "Hello to you.")
    sides = [
        [frame["side"] for frame in following.follow(person=person, after=0)]
        for person in (first, second)
    ]
    assert sides == [["you", "partner"], ["partner", "you"]]
    assert not ReplyJob.objects.exists()


def test_who_is_left_after_speaking_rates_and_who_is_left_before_waits_again() -> None:
    """R17, R21: nobody loses by their partner's leaving."""
    for spoke, state in ((True, P.RATING), (False, P.WAITING)):
        first, second = pair()
        say(first)
        if spoke:
            say(second)
        chat.leave(person=first, now=NOW, because="left")
        second.refresh_from_db()
        assert second.state == state
        assert first.seats.get().conversation.state == C.ABANDONED
        assert not any(seat.persona.taken for seat in first.seats.all() if seat.persona)


def test_a_failed_answer_can_be_asked_for_once_more_and_then_ends_with_full_pay() -> None:
    """R13: try again once, or finish, paid."""
    person = seated()
    say(person)

    def fail() -> None:
        job = ReplyJob.objects.get()
        assert delivery.give_up(job, "no answer in time")

    fail()
    status = following.status(person=person, now=NOW)
    assert (status["failed"], status["may_retry"]) == (True, True)
    chat.retry(person=person, client_id=uuid4(), now=NOW)
    assert ReplyJob.objects.get().state == ReplyJob.State.QUEUED
    fail()
    assert not following.status(person=person, now=NOW)["may_retry"]
    assert refusal(lambda: chat.retry(person=person, client_id=uuid4(), now=NOW)) == "not_now"
    client_id = uuid4()
    for _ in range(2):
        ended = chat.give_up(person=person, client_id=client_id, now=NOW)
        assert (ended.outcome, ended.code.kind) == (Participation.Outcome.FAILED, "FULL")
    assert Conversation.objects.get().state == C.FAILED


def test_frames_do_not_tell_what_the_partner_is() -> None:
    """S11: a bot's conversation and a person's look alike."""
    person = seated()
    talk(person, 2)
    first, second = pair()
    say(first)
    say(second)
    keys = [
        [sorted(frame) for frame in following.news(person=one, after=0, now=NOW)]
        for one in (person, first)
    ]
    assert keys[0] == keys[1]
    shown = str(following.news(person=person, after=0, now=NOW))
    assert "parrot" not in shown
    assert "alpha" not in shown


def test_the_ready_check_opens_when_both_are_there() -> None:
    """R17."""
    campaign = make_campaign("personachat_human", systems={"human": "people"})
    first, second = (make_participation(campaign, state=P.MATCHED) for _ in range(2))
    opening.open_with_person(first=first, second=second, system=campaign.systems.get(), now=NOW)
    assert opening.meet(person=first, now=NOW).state == C.CHECKING
    assert opening.meet(person=first, now=NOW).state == C.CHECKING
    assert opening.meet(person=second, now=NOW).state == C.OPEN
    assert {P.CHATTING} == set(Participation.objects.values_list("state", flat=True))
    with pytest.raises(states.Illegal):
        opening.open_with_bot(person=first, system=campaign.systems.get(), now=NOW)
