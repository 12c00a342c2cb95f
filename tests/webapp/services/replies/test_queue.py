"""Reply jobs: claimed once, fenced, delivered once, given up in the end.

Long because every path of one job is told here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.db.models import F
from django.db.models.functions import Now
from django.test.utils import CaptureQueriesContext

from bots import Reply, Turn
from tests import serving
from tests.factories import NOW, make_campaign, make_participation
from webapp import inference
from webapp.inference import Answers
from webapp.models import Conversation, Event, Flag, Participation, ReplyJob, System
from webapp.services.conversation import chat, messages, opening, updates
from webapp.services.replies import delivery, queue, rehearsal
from webapp.services.rules import events

J = ReplyJob.State
pytestmark = pytest.mark.django_db


def waiting(people: int = 1, pace: float = 0.0, **changes: Any) -> list[Participation]:
    """Return people who wait for a parrot's reply, each to a message of their own."""
    campaign = make_campaign(target=people, changes={"chat.pace": pace}, **changes)
    system = campaign.systems.get()
    found = [make_participation(campaign) for _ in range(people)]
    for number, person in enumerate(found):
        opening.open_with_bot(person=person, system=system, now=NOW)
        chat.send_message(person=person, client_id=uuid4(), text=f"Number {number}.", now=NOW)
    return found


def serve(respond: inference.Respond = inference.respond_here) -> int:
    return serving.serve(bot="parrot", owner="test", respond=respond)


def let_leases_expire() -> None:
    ReplyJob.objects.update(lease_until=Now() - timedelta(seconds=1))


def replied() -> list[str]:
    rows = Event.objects.filter(side=1).order_by("conversation_id")
    return [event.content["text"] for event in rows]


@pytest.mark.django_db(transaction=True)
def test_only_a_claim_does_not_wait_for_the_disk() -> None:
    waiting()
    with CaptureQueriesContext(connection) as queries:
        assert serve() == 1
    asked = [query["sql"] for query in queries]
    claiming = next(n for n, sql in enumerate(asked) if sql.startswith("UPDATE") and "CLAIM" in sql)
    if connection.vendor == "postgresql":
        assert asked[claiming - 2 : claiming] == ["BEGIN", "SET LOCAL synchronous_commit = off"]
        assert asked[claiming + 1] == "COMMIT"
    else:
        assert asked[claiming - 1] == "PRAGMA synchronous = NORMAL"
        assert asked[claiming + 1] == "PRAGMA synchronous = FULL"
    assert sum("synchronous" in sql for sql in asked) <= 2
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA synchronous" if connection.vendor == "sqlite" else "SELECT 2")
        assert cursor.fetchone() == (2,)  # FULL


def test_all_waiting_jobs_are_one_batch() -> None:
    waiting(5)
    batches: list[int] = []

    def respond(bot: str, options: Mapping[str, Any], turns: Sequence[Turn]) -> Answers:
        batches.append(len(turns))
        return inference.respond_here(bot, options, turns)

    assert serve(respond) == 5
    assert batches == [5]
    assert replied() == [f"Number {number}." for number in range(5)]
    job = ReplyJob.objects.earliest("id")
    assert (job.state, job.attempt) == (J.DONE, 1)
    assert {"model", "parameters", "seed", "seconds", "attempt", "batch"} <= job.details.keys()


@pytest.mark.parametrize("pace", [0.0, 5.0])
def test_the_same_claim_answers_once_however_often_it_says_so(pace: float) -> None:
    """R12: at once or later, alone or beside others; the first answer stays."""
    waiting(2, pace)
    first, second = queue.claim(bot="parrot", owner="test")
    again = delivery.BotAnswer(first, "Something else.", {})
    assert delivery.answer([delivery.BotAnswer(first, "A word.", {})]) == 1
    assert delivery.answer([again]) == 0
    assert delivery.answer([again, delivery.BotAnswer(second, "Another.", {})]) == 1
    ReplyJob.objects.update(due_at=Now())
    delivery.deliver_due()
    assert replied() == ["A word.", "Another."]


def test_a_late_answer_of_an_earlier_claim_is_discarded() -> None:
    """R12: the reply is written only if owner and attempt still match."""
    waiting()
    (stalled,) = queue.claim(bot="parrot", owner="stalled")
    assert queue.claim(bot="parrot", owner="other") == []
    let_leases_expire()
    assert serve() == 1
    assert delivery.answer([delivery.BotAnswer(stalled, "Too late.", {})]) == 0
    assert replied() == ["Number 0."]
    assert ReplyJob.objects.get().attempt == 2


@pytest.mark.parametrize("pace", [0.0, 0.001])
def test_an_answer_to_a_conversation_that_is_over_is_not_shown(pace: float) -> None:
    waiting(2, pace=pace)
    over, goes_on = queue.claim(bot="parrot", owner="worker")
    Conversation.objects.filter(pk=over.conversation_id).update(state="FAILED")
    answers = [delivery.BotAnswer(job, f"To {job.pk}.", {}) for job in (over, goes_on)]
    assert delivery.answer(answers) == 2
    ReplyJob.objects.update(due_at=Now())
    delivery.deliver_due()
    assert replied() == [f"To {goes_on.pk}."]
    found = [ReplyJob.objects.get(pk=job.pk).state for job in (over, goes_on)]
    assert found == [J.DROPPED, J.DONE]


def test_leases_are_kept_by_the_clock_of_the_database_and_renewed() -> None:
    """R27."""
    waiting()
    (job,) = queue.claim(bot="parrot", owner="worker")
    lease = ReplyJob.objects.annotate(left=F("lease_until") - Now()).get().left
    assert 13 < lease.total_seconds() <= 15
    let_leases_expire()
    assert queue.renew([job.owner]) == 1
    assert queue.claim(bot="parrot", owner="other") == []


def test_a_reply_is_shown_once_the_bot_has_seemed_to_type_it() -> None:
    (person,) = waiting(pace=0.5)
    assert serve() == 1
    wait = delivery.seconds_to_next()
    assert wait is not None
    assert 0.5 < wait <= 1.0  # two words
    assert delivery.deliver_due() == 0
    assert updates.status(person=person, now=NOW)["turn"] == "partner"
    ReplyJob.objects.update(due_at=Now())
    assert [delivery.deliver_due() for _ in range(2)] == [1, 0]
    assert replied() == ["Number 0."]


def test_one_that_fails_does_not_harm_the_others_and_is_given_up_after_three_attempts() -> None:
    """R13, R25."""
    waiting(3)

    def respond(bot: str, options: Mapping[str, Any], turns: Sequence[Turn]) -> Answers:
        if any(history[-1].text == "Number 1." for _, history in turns):
            raise ValueError("poisoned")
        return inference.respond_here(bot, options, turns)

    claimed = [serve(respond)]
    assert replied() == ["Number 0.", "Number 2."]
    for _ in range(3):
        assert serve(respond) == 0  # not before a pause
        ReplyJob.objects.filter(state=J.QUEUED).update(lease_until=None)
        claimed.append(serve(respond))
    assert claimed == [3, 1, 1, 0]
    job = ReplyJob.objects.get(state=J.FAILED)
    assert (job.attempt, job.error) == (3, "ValueError: poisoned")
    assert Flag.objects.get().kind == "no_reply"
    delivery.retry(job)
    assert serve() == 1
    assert sorted(replied()) == ["Number 0.", "Number 1.", "Number 2."]


@pytest.mark.parametrize("said", ["", "  ", "\0"])
def test_a_bot_that_says_nothing_has_failed(said: str) -> None:
    waiting()
    serve(lambda bot, options, turns: Answers([Reply(said)], {}))
    assert replied() == []
    assert ReplyJob.objects.get().error == "the bot said nothing"


def test_what_cannot_be_stored_is_taken_out_of_a_reply() -> None:
    """R24 for what bots say."""
    waiting()
    serve(lambda bot, options, turns: Answers([Reply("a\0b\ud800c" + "x" * 9000)], {}))
    assert replied()[0].startswith("abcx")
    assert len(replied()[0]) == 4000


def test_jobs_of_a_lost_process_are_put_back_and_may_be_claimed_at_once() -> None:
    """R14: what was lost starts anew, which is pause enough."""
    waiting(2)

    def respond(bot: str, options: Mapping[str, Any], turns: Sequence[Turn]) -> Answers:
        raise inference.WorkerLost("CUDA error: device-side assert")

    with pytest.raises(inference.WorkerLost):
        serve(respond)
    assert set(ReplyJob.objects.values_list("state", flat=True)) == {J.QUEUED}
    assert serve() == 2


def test_the_sweeper_frees_what_a_dead_worker_held() -> None:
    """R12, R26."""
    waiting()
    queue.claim(bot="parrot", owner="dead")
    assert delivery.sweep() == 0
    let_leases_expire()
    assert delivery.sweep() == 1
    ReplyJob.objects.update(lease_until=None)
    assert serve() == 1
    assert delivery.sweep() == 0


def test_a_worker_that_dies_three_times_over_a_job_loses_it() -> None:
    waiting()
    for _ in range(3):
        assert len(queue.claim(bot="parrot", owner="dying")) == 1
        let_leases_expire()
    assert queue.claim(bot="parrot", owner="dying") == []
    delivery.sweep()
    assert ReplyJob.objects.get().state == J.FAILED


def test_who_waits_too_long_is_told_and_the_answer_comes_no_more() -> None:
    """R13: at the campaign's limit a notice; a late answer is discarded."""
    (person,) = waiting(reply_seconds=60)
    (job,) = queue.claim(bot="parrot", owner="slow")
    assert delivery.sweep() == 0
    ReplyJob.objects.update(queued_at=Now() - timedelta(seconds=61))
    assert delivery.sweep() == 1
    assert updates.status(person=person, now=NOW)["failed"]
    notice = updates.follow(person=person, after=1)[0]
    assert (notice["kind"], notice["code"]) == ("notice", "no_answer")
    assert delivery.answer([delivery.BotAnswer(job, "Here I am.", {})]) == 0
    assert delivery.sweep() == 0


def test_systems_with_different_options_are_different_batches() -> None:
    campaign = make_campaign(changes={"chat.pace": 0.0}, systems={"a": "parrot", "b": "parrot"})
    System.objects.filter(name="b").update(options={"opening": "Good day!"})
    for system in campaign.systems.all():
        person = make_participation(campaign)
        opening.open_with_bot(person=person, system=system, now=NOW)
        chat.send_message(person=person, client_id=uuid4(), text="Hello.", now=NOW)
    asked: list[dict[str, Any]] = []

    def respond(bot: str, options: Mapping[str, Any], turns: Sequence[Turn]) -> Answers:
        asked.append(dict(options))
        return inference.respond_here(bot, options, turns)

    assert serve(respond) == 2
    assert asked == [{}, {"opening": "Good day!"}]


def test_a_bot_sees_its_persona_and_the_history_from_its_side() -> None:
    (person,) = waiting()
    turns: list[Turn] = []

    def respond(bot: str, options: Mapping[str, Any], asked: Sequence[Turn]) -> Answers:
        turns.extend(asked)
        return Answers([Reply("Fine.") for _ in asked], {})

    serve(respond)
    chat.send_message(person=person, client_id=uuid4(), text="And you?", now=NOW)
    serve(respond)
    persona, history = turns[-1]
    assert [(turn.speaker, turn.text) for turn in history] == [
        ("partner", "Number 0."),
        ("self", "Fine."),
        ("partner", "And you?"),
    ]
    seat = Conversation.objects.get().seats.get(side=1)
    assert seat.persona is not None
    assert list(persona) == seat.persona.sentences


def test_two_messages_of_one_batch_cannot_both_be_first() -> None:
    """R4, R5: what is sent twice at the same moment is stored once; turns hold within a batch."""
    (person,) = waiting()
    serve()
    client_id = uuid4()
    same = messages.OutgoingMessage(person.pk, client_id, "Once.")
    other = messages.OutgoingMessage(person.pk, client_id, "Twice.")
    next_one = messages.OutgoingMessage(person.pk, uuid4(), "Again.")
    first, second, third, fourth = messages.send_all([same, same, other, next_one], now=NOW)
    assert isinstance(first, Event)
    assert second is first
    assert isinstance(third, events.Conflict)
    assert getattr(fourth, "notice", "") == "not_your_turn"
    assert Event.objects.filter(side=0).count() == 2


def test_a_rehearsal_goes_the_way_of_every_reply() -> None:
    system = make_campaign().systems.get()
    rehearsal.start(system=system, by="ann", now=NOW)
    assert system.rehearsal == System.Rehearsal.QUEUED
    for _ in range(rehearsal.REPLIES):
        assert serve() == 1
    system.refresh_from_db()
    assert system.rehearsal == System.Rehearsal.PASSED
    assert system.version["model"] == "parrot"
    assert system.rehearsed_at is not None


def test_a_rehearsal_that_fails_says_why() -> None:
    system = make_campaign().systems.get()
    System.objects.update(options={"opening": 7})
    rehearsal.start(system=system, by="ann", now=NOW)
    for _ in range(3):
        ReplyJob.objects.update(lease_until=None)
        serve()
    system.refresh_from_db()
    assert system.rehearsal == System.Rehearsal.FAILED
    assert "opening is 7, but must be text" in system.rehearsal_note


def test_staff_try_a_system() -> None:
    system = make_campaign().systems.get()
    conversation = rehearsal.test_chat(system=system, by="ann", now=NOW)
    rehearsal.send_message(conversation=conversation, text="Hello?", by="ann")
    assert rehearsal.answering(conversation)
    serve()
    assert rehearsal.read(conversation) == [("you", "Hello?"), ("system", "Hello?")]
    system.refresh_from_db()
    assert system.rehearsal == System.Rehearsal.PASSED  # as it was: a test chat changes nothing
