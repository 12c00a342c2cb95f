"""The tables: one row per current answer, what is set aside named, what was withdrawn absent."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from analysis import evaluate, message_table, rating_table
from tests.factories import NOW, make_campaign, make_participation
from tests.webapp.services import rated
from webapp.models import (
    Assignment,
    Campaign,
    Candidate,
    Conversation,
    Flag,
    Item,
    Participation,
    Persona,
    Rating,
    Seat,
)
from webapp.services.data import tables
from webapp.services.participation import privacy

pytestmark = pytest.mark.django_db


def rows_of(campaign: Campaign, **options: Any) -> list[dict[str, Any]]:
    """Return the rating table's rows, checked as analysis checks them."""
    table = rating_table(tables.ratings(campaign, include_excluded=True, **options))
    return [{str(k): v for k, v in row.items()} for row in table.to_dict("records")]


def one_chat(**ending: Any) -> tuple[Campaign, Participation, Conversation]:
    campaign = make_campaign()
    person, talk = rated.rate(campaign, campaign.systems.get(), **ending)
    return campaign, person, talk


def test_a_row_says_who_judged_what_with_which_scale() -> None:
    campaign, person, talk = one_chat()
    rows = {row["question"]: row for row in rows_of(campaign)}
    assert list(rows) == ["fluency", "engagingness", "consistency", "persona"]
    row = rows["fluency"]
    assert (row["rater"], row["item"], row["system"]) == (person.pseudonym, str(talk.pk), "alpha")
    assert (row["level"], row["scale_low"], row["scale_high"]) == ("ordinal", 1.0, 5.0)
    assert row["better"] == "high"
    assert row["value"] == float(Rating.objects.get(question="fluency").value)
    assert row["excluded"] == ""
    assert campaign.slug not in str(rows)


@pytest.mark.parametrize(("chosen", "value"), [("p1", 1.0), ("p5", 0.0)])
def test_a_persona_choice_is_right_or_wrong_and_keeps_its_key(chosen: str, value: float) -> None:
    campaign, _, _ = one_chat()
    Rating.objects.filter(question="persona").update(value=chosen)
    row = next(row for row in rows_of(campaign) if row["question"] == "persona")
    assert (row["value"], row["chosen"]) == (value, chosen)


def test_the_highest_revision_is_the_answer_even_where_it_was_stored_first() -> None:
    campaign, _, _ = one_chat()
    old = Rating.objects.get(question="fluency")
    Rating.objects.filter(pk=old.pk).update(revision=9, value=5)
    Rating.objects.create(
        assignment=old.assignment,
        candidate=old.candidate,
        question="fluency",
        value=1,
        revision=3,
    )
    found = [row for row in rows_of(campaign) if row["question"] == "fluency"]
    assert [row["value"] for row in found] == [5.0]


@pytest.mark.parametrize(
    ("ending", "reason"),
    [
        ({}, ""),
        ({"outcome": "PARTNER_LEFT", "state": "ABANDONED"}, "partner left"),
        ({"outcome": "QUIT"}, "stopped of their own accord"),
        ({"outcome": "", "state": "OPEN"}, "not finished"),
        ({"state": "ABANDONED"}, "conversation abandoned"),
    ],
)
def test_what_the_results_do_not_rest_on_stays_with_its_reason(
    ending: dict[str, str], reason: str
) -> None:
    campaign, _, _ = one_chat(**ending)
    assert {row["excluded"] for row in rows_of(campaign)} == {reason}
    assert len(tables.ratings(campaign)) == (0 if reason else 4)


def test_a_partner_who_left_counts_where_the_campaign_says_so() -> None:
    campaign, _, _ = one_chat(outcome="PARTNER_LEFT", state="ABANDONED")
    campaign.partner_left_counts = True
    rows = tables.ratings(campaign)
    assert len(rows) == 4
    assert set(rows["flags"]) == {"partner_left"}


def test_a_session_without_every_score_is_set_aside() -> None:
    campaign, _, _ = one_chat()
    Rating.objects.filter(question="consistency").delete()
    assert {row["excluded"] for row in rows_of(campaign)} == {tables.INCOMPLETE}
    again = Rating.objects.earliest("pk")  # an answer that is changed is no further one
    again.pk, again.revision = None, again.revision + 1
    again.save()
    assert {row["excluded"] for row in rows_of(campaign)} == {tables.INCOMPLETE}


@pytest.mark.parametrize("of", [Participation, Conversation])
def test_what_a_reviewer_excluded_is_set_aside(of: Any) -> None:
    campaign, _, _ = one_chat()
    of.objects.update(excluded="spam")
    assert {row["excluded"] for row in rows_of(campaign)} == {"reviewer: spam"}


def test_open_flags_are_named_and_can_be_left_out() -> None:
    campaign, person, talk = one_chat()
    Flag.objects.create(campaign=campaign, participation=person, conversation=talk, kind="quick")
    Flag.objects.create(campaign=campaign, participation=person, kind="seen", settled_at=NOW)
    assert {row["flags"] for row in rows_of(campaign)} == {"quick"}
    assert len(tables.ratings(campaign)) == 4
    assert len(tables.ratings(campaign, include_flagged=False)) == 0


def test_who_withdrew_is_absent_from_both_tables() -> None:
    campaign, person, _ = one_chat(said="canary")
    rated.rate(campaign, campaign.systems.get())
    privacy.withdraw(token=privacy.withdraw_token(person), now=NOW)
    assert person.pseudonym not in set(tables.ratings(campaign, include_excluded=True)["rater"])
    assert len(tables.ratings(campaign)) == 4
    messages = tables.messages(campaign)
    assert len(messages) == 4
    assert "canary" not in set(messages["text"])


def test_two_people_judge_each_other_as_different_items() -> None:
    campaign = make_campaign("personachat_human", systems={"pairs": "people"})
    system = campaign.systems.get()
    talk = Conversation.objects.create(
        campaign=campaign, system=system, seed=1, started_at=NOW, state="FINISHED"
    )
    people = [make_participation(campaign, state="ENDED", outcome="COMPLETED") for _ in "ab"]
    for side, person in enumerate(people):
        persona = Persona.objects.get(campaign=campaign, key=f"p{side}")
        Seat.objects.create(
            conversation=talk, side=side, participation=person, persona=persona, active=False
        )
    for side, person in enumerate(people):
        item = Item.objects.create(
            campaign=campaign, key=f"c{talk.pk}:{1 - side}:after", conversation=talk, target=1
        )
        done = Assignment.objects.create(item=item, participation=person, place=0, state="DONE")
        judged = Candidate.objects.create(
            item=item, key="p", conversation=talk, system=system, side=1 - side
        )
        for question in rated.SCALES:
            Rating.objects.create(assignment=done, candidate=judged, question=question, value=3)
        Rating.objects.create(assignment=done, candidate=judged, question="persona", value="p0")
    rows = rows_of(campaign)
    assert {row["item"] for row in rows} == {f"{talk.pk}:side0", f"{talk.pk}:side1"}
    assert {row["system"] for row in rows} == {"human"}
    right = {row["rater"]: row["value"] for row in rows if row["question"] == "persona"}
    assert right == {people[0].pseudonym: 0.0, people[1].pseudonym: 1.0}


def test_labels_are_items_by_message_and_static_replies_by_context() -> None:
    live, fixed = rated.meena(each=1, systems={"good": 1.0}), rated.static(contexts=1)
    talk = live.conversations.get()
    assert {row["item"] for row in rows_of(live)} == {f"{talk.pk}:{seq}" for seq in (2, 4, 6, 8)}
    assert {row["message_seq"] for row in rows_of(live)} == {"2", "4", "6", "8"}
    assert {row["message_seq"] for row in rows_of(one_chat()[0])} == {""}
    keys = set(fixed.items.values_list("key", flat=True))
    assert {row["item"] for row in rows_of(fixed)} == keys
    found = evaluate(tables.ratings(fixed))
    ssa = found[found["metric"] == "ssa"]
    assert "turn_effect" not in set(found["metric"])  # a reply to each context, so no turns
    assert list(ssa["votes"]) == [5, 5]


def test_a_static_vote_counts_however_its_rater_ended() -> None:
    campaign = rated.static(contexts=1)
    Participation.objects.update(outcome="LEFT")
    assert len(tables.ratings(campaign)) == 2 * 5 * 2


def test_messages_name_their_writer() -> None:
    campaign, _, talk = one_chat()
    table = message_table(tables.messages(campaign))
    assert list(table["seq"]) == [1, 2, 3, 4]
    assert list(table["system"]) == ["human", "alpha"] * 2
    assert list(table["persona"]) == ["p0", "p1"] * 2
    assert set(table["conversation"]) == {str(talk.pk)}
    given = message_table(tables.messages(rated.static(contexts=1)))
    assert list(given["system"]) == ["", "good", "", "poor"]


def test_rehearsals_are_no_data() -> None:
    campaign, _, talk = one_chat()
    Conversation.objects.filter(pk=talk.pk).update(purpose="REHEARSAL")
    assert len(tables.messages(campaign)) == 0


def test_a_campaign_without_answers_has_empty_tables() -> None:
    campaign = make_campaign()
    assert rows_of(campaign) == []
    assert len(message_table(tables.messages(campaign))) == 0
    assert evaluate(tables.ratings(campaign)).empty


def test_a_hundred_conversations_need_no_more_queries_than_one() -> None:
    campaign = rated.personachat(each=1, systems={"good": 1.0})

    def count() -> int:
        with CaptureQueriesContext(
            connection,
        ) as queries:
            tables.ratings(campaign)
            tables.messages(campaign)
        return len(queries)

    few = count()
    for _ in range(99):
        rated.rate(campaign, campaign.systems.get())
    assert count() == few
    assert few < 10
