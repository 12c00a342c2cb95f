"""Reviewing: any transcript, exclusions that delete nothing, bonuses given once.

Long because all tests need the same reviewed campaign.
"""

import functools
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from pytest_django import DjangoAssertNumQueries

from tests.factories import NOW, make_campaign, make_participation, make_staff, make_system
from webapp.models import (
    Assignment,
    AuditEntry,
    Bonus,
    Campaign,
    Candidate,
    Conversation,
    Event,
    Flag,
    Item,
    Participation,
    Rating,
    ReplyJob,
    Seat,
)
from webapp.services.monitoring import review, transcripts
from webapp.services.rules import access, events
from webapp.services.staff_forms.fields import Invalid

pytestmark = pytest.mark.django_db


def make_conversation(campaign: Campaign, messages: int = 2, **changes: object) -> Conversation:
    """A chat in which the person begins and the bot's replies have jobs."""
    person = make_participation(campaign, state="CHATTING")
    conversation = Conversation.objects.create(
        campaign=campaign,
        **{"system": campaign.systems.first(), "seed": 1, "started_at": NOW} | changes,
    )
    Seat.objects.create(conversation=conversation, side=0, participation=person)
    persona = campaign.personas.first()
    Seat.objects.create(conversation=conversation, side=1, persona=persona)
    for number in range(messages):
        event = events.append(
            conversation=conversation,
            kind=Event.Kind.MESSAGE,
            side=number % 2,
            content={"text": f"message {number}"},
            client_id=None if number % 2 else uuid4(),
            in_reply_to=number if number % 2 else None,
        )
        if number % 2 == 0:
            ReplyJob.objects.create(
                conversation=conversation,
                in_reply_to=event.seq,
                bot="parrot",
                queued_at=NOW,
                answered_at=NOW + timedelta(seconds=2),
                attempt=1,
                details={"model": "parrot", "seconds": 0.1},
            )
    return conversation


def rate(conversation: Conversation, *answers: tuple[str, object, int], seq: int | None) -> None:
    person = conversation.seats.get(side=0).participation
    item, _ = Item.objects.get_or_create(
        campaign=conversation.campaign,
        key=f"c{conversation.pk}",
        defaults={"conversation": conversation, "target": 1},
    )
    candidate = Candidate.objects.create(
        item=item,
        key=f"m{seq}",
        conversation=conversation,
        system=conversation.system,
        seq=seq,
        side=1,
    )
    assignment, _ = Assignment.objects.get_or_create(
        item=item, participation=person, defaults={"place": 0}
    )
    for question, value, revision in answers:
        Rating.objects.create(
            assignment=assignment,
            candidate=candidate,
            question=question,
            value=value,
            revision=revision,
        )


def test_a_transcript_has_times_reply_details_and_who_sat_where() -> None:
    conversation = make_conversation(make_campaign())
    found = transcripts.transcript(conversation)
    assert [(line.who, line.text) for line in found.lines] == [
        ("first", "message 0"),
        ("second", "message 1"),
    ]
    assert found.lines[1].reply == {"attempt": 1, "took": 2.0, "model": "parrot", "seconds": 0.1}
    person, bot = found.sides
    assert person.person == conversation.seats.get(side=0).participation_id
    assert (bot.who, bot.persona_key, len(bot.persona)) == ("alpha", "p0", 5)


def test_the_latest_label_is_shown_with_how_often_it_was_changed() -> None:
    conversation = make_conversation(make_campaign("meena_interactive", personas=0))
    rate(conversation, ("sensible", 1, 1), ("sensible", 0, 2), seq=2)
    line = transcripts.transcript(conversation).lines[1]
    assert [(a.question, a.value, a.superseded) for a in line.answers] == [("sensible", "No", 1)]


def test_ratings_of_the_partner_are_told_in_the_words_of_the_question() -> None:
    conversation = make_conversation(make_campaign())
    rate(conversation, ("fluency", 5, 0), ("engagingness", 2, 0), seq=None)
    answers = transcripts.transcript(conversation).answers
    assert {a.question: a.value for a in answers} == {
        "fluency": "5 (extremely fluent)",
        "engagingness": "2",
    }


def test_a_choice_of_persona_is_right_or_wrong() -> None:
    campaign = make_campaign()
    conversation = make_conversation(campaign)
    rate(conversation, ("persona", "p3", 0), ("fluency", 2, 0), seq=None)
    found = {a.question: a for a in transcripts.transcript(conversation).answers}
    assert (found["persona"].is_right, found["fluency"].is_right) == (False, None)
    Rating.objects.filter(question="persona").update(value="p0")  # the persona of the other seat
    assert transcripts.transcript(conversation).answers[0].is_right is True
    conversation.seats.update(persona=None)
    assert transcripts.transcript(conversation).answers[0].is_right is None


def test_what_the_platform_noted_is_nobodys_words() -> None:
    conversation = make_conversation(make_campaign(), messages=0)
    for content, side, text in (
        ({"state": "finished"}, 0, "Finished the conversation"),
        ({"state": "left"}, None, "A participant left the conversation"),
        ({"refused": "My boat.", "complaint": "Copied."}, 0, "“My boat.” (Copied.)"),
        ({"notice": "no_answer"}, None, "Notice shown: Your partner could not answer."),
        ({"state": "strange"}, None, "state: strange"),
    ):
        kind = Event.Kind.NOTICE if "notice" in content else Event.Kind.STATE
        events.append(conversation=conversation, kind=kind, side=side, content=content)
        line = transcripts.transcript(conversation).lines[-1]
        assert (line.who, line.by) == ("platform", "" if side is None else "first")
        assert text in line.text


def test_filters_find_what_they_name_and_ignore_what_they_do_not_know() -> None:
    campaign = make_campaign()
    beta = make_system(campaign, "beta")
    plain = make_conversation(campaign)
    odd = make_conversation(campaign, system=beta, state="ABANDONED", excluded="Spam.")
    Flag.objects.create(campaign=campaign, conversation=odd, kind="quick")
    make_conversation(campaign, purpose="REHEARSAL")
    make_conversation(make_campaign())

    def found(**query: str) -> list[int]:
        return [row.pk for row in review.conversations(campaign, query)]

    assert found() == [odd.pk, plain.pk]
    for query in (
        {"system": str(beta.pk)},
        {"state": "ABANDONED"},
        {"flagged": "yes"},
        {"excluded": "yes"},
    ):
        assert found(**query) == [odd.pk]
    assert found(flagged="no", excluded="no") == [plain.pk]
    assert found(system="x' OR 1=1", state="?", flagged="?", page="a") == [odd.pk, plain.pk]
    assert found(system="9" * 400) == []


def test_people_are_filtered_by_the_steps_of_the_funnel() -> None:
    campaign = make_campaign()
    done = make_participation(campaign, state="ENDED", outcome="COMPLETED")
    lost = make_participation(campaign, state="ENDED", outcome="LEFT")
    ready = make_participation(campaign)
    found = {
        step: [row.pk for row in review.people(campaign, {"step": step}, NOW)]
        for step in review.STEPS
    }
    assert found == {
        "ready": [ready.pk],
        "waiting": [],
        "chatting": [],
        "rating": [],
        "writing": [],
        "done": [done.pk],
        "lost": [lost.pk],
        "paid": [],
    }


@pytest.mark.parametrize("kind", ["conversation", "participation"])
def test_an_exclusion_deletes_nothing_and_is_undone(kind: str) -> None:
    conversation = make_conversation(make_campaign(), messages=4)
    person = conversation.seats.get(side=0).participation
    row = conversation if kind == "conversation" else person
    assert row is not None
    reviewed = review.Reviewed(kind, row.campaign, row.pk)
    by = make_staff("ann")
    for _ in range(2):  # a double click is logged once
        review.exclude(row=reviewed, by=by, reason="A test of ours.", now=NOW)
    row.refresh_from_db()
    assert row.excluded == "A test of ours."
    assert Event.objects.filter(conversation=conversation).count() == 4
    review.include(row=reviewed, by=by, now=NOW)
    row.refresh_from_db()
    assert row.excluded == ""
    log = AuditEntry.objects.values_list("actor", "action", "detail__reason")
    assert list(log) == [
        ("ann", f"{kind} excluded", "A test of ours."),
        ("ann", f"{kind} included", ""),
    ]


@pytest.mark.parametrize("kind", ["conversation", "participation"])
def test_only_the_campaign_s_own_rows_are_excluded(kind: str) -> None:
    conversation, other = make_conversation(make_campaign()), make_campaign()
    person = conversation.seats.get(side=0).participation
    row = conversation if kind == "conversation" else person
    assert row is not None
    with pytest.raises(access.NotFound):
        review.exclude(
            row=review.Reviewed(kind, other, row.pk), by=make_staff(), reason="x", now=NOW
        )
    row.refresh_from_db()
    assert row.excluded == ""


@pytest.mark.parametrize("reason", ["", "  ", "x" * 201, "a\0b"])
def test_an_exclusion_wants_a_reason(reason: str) -> None:
    with pytest.raises(Invalid):
        review.read_reason({"reason": reason})


def test_a_bonus_is_given_once_by_a_double_click() -> None:
    person = make_participation(make_campaign())
    raw = {"amount": "0.75", "bonus_reason": "Long answers.", "given": "0"}
    review.give_bonus(campaign=person.campaign, pk=person.pk, raw=raw, by=make_staff(), now=NOW)
    with pytest.raises(review.AnotherMeanwhile):
        review.give_bonus(campaign=person.campaign, pk=person.pk, raw=raw, by=make_staff(), now=NOW)
    assert Bonus.objects.get().amount == Decimal("0.75")
    review.give_bonus(
        campaign=person.campaign, pk=person.pk, raw=raw | {"given": "1"}, by=make_staff(), now=NOW
    )
    assert Bonus.objects.count() == 2


@pytest.mark.parametrize(
    ("field", "typed"),
    [("amount", "0"), ("amount", "-1"), ("amount", "x"), ("amount", "inf"), ("bonus_reason", "")],
)
def test_a_bad_bonus_is_refused_by_its_field(field: str, typed: str) -> None:
    raw = {"amount": "1", "bonus_reason": "Good.", "given": "0"} | {field: typed}
    person = make_participation(make_campaign())
    with pytest.raises(Invalid) as refusal:
        review.give_bonus(campaign=person.campaign, pk=person.pk, raw=raw, by=make_staff(), now=NOW)
    assert list(refusal.value.problems) == [field]


def test_a_flag_is_settled_once_and_only_in_its_campaign() -> None:
    campaign = make_campaign()
    flag = Flag.objects.create(campaign=campaign, kind="quick")
    for _ in range(2):
        review.settle_flag(campaign=campaign, pk=flag.pk, by=make_staff(), now=NOW)
    assert AuditEntry.objects.count() == 1
    with pytest.raises(access.NotFound):
        review.settle_flag(campaign=make_campaign(), pk=flag.pk, by=make_staff(), now=NOW)


def test_queries_do_not_grow_with_the_rows(
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    small, large = make_campaign(), make_campaign()
    make_conversation(small)
    Flag.objects.create(campaign=small, kind="quick", conversation=small.conversations.get())
    for _ in range(50):
        make_conversation(large)
    long = make_conversation(large, messages=100)
    reads: tuple[Callable[..., Any], ...] = (
        review.conversations,
        functools.partial(review.people, now=NOW),
    )
    for read in reads:
        with CaptureQueriesContext(connection) as queries:
            list(read(small, {}))
        assert len(queries) <= 5
        with django_assert_num_queries(len(queries)):
            list(read(large, {}))
    rows = Conversation.objects.select_related("campaign", "system")
    short, long = rows.get(campaign=small), rows.get(pk=long.pk)
    with CaptureQueriesContext(connection) as queries:
        transcripts.transcript(short)
    with django_assert_num_queries(len(queries)):
        transcripts.transcript(long)


def test_minutes_run_to_the_end_or_the_last_sign_of_life() -> None:
    person = make_participation(make_campaign())
    Participation.objects.filter(pk=person.pk).update(
        joined_at=NOW, seen_at=NOW + timedelta(minutes=3)
    )
    person.refresh_from_db()
    assert review.minutes(person) == 3.0
    person.ended_at = NOW + timedelta(minutes=2)
    assert review.minutes(person) == 2.0
