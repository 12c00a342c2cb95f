"""Rules of assignment: each is broken on purpose, and told by rule, person and item.

Rules V1, V3-V5, V8, V9.
"""

from __future__ import annotations

import dataclasses
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from evaluation import Onboarding, Preference, Protocol, Rate
from evaluation.registry import get_protocol
from tests.asking import imported
from tests.factories import NOW
from tests.webapp.admitted import known_row, onboarding_campaign, rows_of
from tests.webapp.services import judged
from tests.webapp.services.campaign.test_written_materials import judging
from tests.webapp.services.data.test_imported_replies import (
    ARMS,
    SETS,
    SEVEN,
    by_number,
    judged_by,
    lists,
    prompts,
    slid,
    votes,
)
from tests.webapp.services.people import join
from tests.webapp.services.rating.test_second_panels import opened
from tests.webapp.services.third import chatted, judge, judge_all, labeling
from tests.webapp.services.writing.test_offering import revising
from tests.webapp.services.written import REVISED, SENTENCES, accepted, came, fields, of_replies
from webapp.models import Campaign, ExternalId, Item, Participation, Rating
from webapp.services.data import assignment_rules, exports
from webapp.services.data.assignment_rules import violations
from webapp.services.participation import enrolment
from webapp.services.writing import offering

pytestmark = pytest.mark.django_db
Row = dict[str, Any]
OPEN_VOTES = ("votes",)


def row(rater: str = "ann", item: str = "i", value: Any = 1, **more: Any) -> Row:
    usual = {"question": "likely", "conversation": f"talk of {item}", "message_seq": "1"}
    usual |= {"votes": "1", "system": "s", "dataset": "", "context": "k", "character": "Rei"}
    return {**usual, "rater": rater, "item": item, "value": value, "chosen": "", **more}


def told(protocol: str | Protocol, *rows: Row) -> list[tuple[str, str, str]]:
    known = get_protocol(protocol) if isinstance(protocol, str) else protocol
    return [(one.rule, one.rater, one.item) for one in violations(known, rows)]


def test_an_item_is_judged_once_by_a_person() -> None:
    assert told("persona_likely", row(), row(item="j")) == []
    assert told("persona_likely", row(), row()) == [("twice", "ann", "i")]


@pytest.mark.parametrize(("raters", "kept"), [(4, False), (5, True), (6, False)])
def test_votes_are_exact(raters: int, kept: bool) -> None:
    rows = [row(f"r{n}", votes="5") for n in range(raters)]
    assert told("persona_likely", *rows) == ([] if kept else [("votes", "", "i")])


@pytest.mark.parametrize(
    ("protocol", "column", "question"),
    [
        ("persona_likely", "character", "likely"),
        ("persona_likely", "context", "likely"),
        ("explanation_ranking", "dataset", "explanation"),
        ("explanation_rating", "system", "goodness"),
    ],
)
def test_a_person_meets_one_kind(protocol: str, column: str, question: str) -> None:
    rows = [row(question=question), row(item="j", question=question)]
    assert told(protocol, *rows) == []
    rows[1][column] = "another"
    assert told(protocol, *rows) == [(f"one {column}", "ann", "j")]


@pytest.mark.parametrize(
    ("values", "kept"), [((1, 2, 3), True), ((3, 1, 2), True), ((1, 1, 3), False), ((2, 3), False)]
)
def test_ranks_are_a_permutation(values: tuple[int, ...], kept: bool) -> None:
    rows = [row(value=v, question="quality", conversation=str(n)) for n, v in enumerate(values)]
    assert told("reply_ranking", *rows) == ([] if kept else [("permutation", "ann", "i")])


@pytest.mark.parametrize(
    ("values", "tie", "kept"),
    [((1, 2), "", True), ((1, 1), "neither", True), ((1, 1), "", False), ((2, 2), "", False)],
)
def test_a_pair_has_one_winner_or_a_tie(values: tuple[int, ...], tie: str, kept: bool) -> None:
    pairs = Rate(each=(), together=(Preference.sample(),), over="contexts", show="pairs")
    protocol = dataclasses.replace(get_protocol("reply_ranking"), steps=(pairs,))
    rows = [
        row(value=v, question="better", conversation=str(n), chosen=tie)
        for n, v in enumerate(values)
    ]
    assert told(protocol, *rows) == ([] if kept else [("one winner", "ann", "i")])


@pytest.mark.parametrize(
    ("sensible", "specific", "kept"), [(1, 1, True), (1, 0, True), (0, 0, True), (0, 1, False)]
)
def test_specific_only_if_sensible(sensible: int, specific: int, kept: bool) -> None:
    rows = [row(value=sensible, question="sensible"), row(value=specific, question="specific")]
    assert told("meena_static", *rows) == ([] if kept else [("only if", "ann", "i")])


# --- a database, and its export ---------------------------------------------------------------


def likely() -> Campaign:
    campaign = imported("persona_likely", lists(3))
    judged_by(campaign, 10, votes)
    return campaign


def ranked() -> Campaign:
    rows = prompts(20, SEVEN, dataset=lambda n: SETS[n % 2])
    campaign = imported("explanation_ranking", rows, {"rate.votes": 1})
    judged_by(campaign, 2, by_number)
    return campaign


def rated() -> Campaign:
    campaign = imported("explanation_rating", prompts(4, ARMS))
    judged_by(campaign, 6, slid)
    return campaign


@pytest.mark.parametrize("made", [likely, ranked, rated])
def test_a_finished_campaign_and_its_export_keep_every_rule(
    made: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    campaign = made()
    path = exports.write_to(campaign=campaign, path=tmp_path / "export.zip")
    for name in (str(campaign.pk), campaign.slug, str(path)):
        call_command("check_assignments", name)
        assert "every rule of assignment is kept" in capsys.readouterr().out


def test_what_is_broken_is_told_of_a_database_and_of_its_export(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    campaign = ranked()
    first = Rating.objects.filter(value=1).first()
    assert first is not None
    Rating.objects.filter(pk=first.pk).update(value=2)
    item, rater = first.assignment.item.key, first.assignment.participation.pseudonym
    path = exports.write_to(campaign=campaign, path=tmp_path / "export.zip")
    for name in (str(campaign.pk), str(path)):
        with pytest.raises(CommandError, match="1 answers or items break a rule"):
            call_command("check_assignments", name)
        expected = f"permutation: {rater}; {item}: positions are 2, 2, 3, 4, 5, 6, 7"
        looked = "140 answers of 2 raters about 20 items"
        assert capsys.readouterr().out.splitlines() == [expected, looked]


def test_third_parties_who_judge_their_own_conversation_are_told() -> None:
    campaign = labeling(chatted(1))
    judge_all(campaign, "stranger")
    assert "own conversation" not in {
        one.rule for one in assignment_rules.of_campaign(campaign).broken
    }
    person = Participation.objects.get(campaign=campaign)
    ExternalId.objects.filter(participation=person).update(value="p0")
    found = [
        (one.rater, one.item)
        for one in assignment_rules.of_campaign(campaign).broken
        if one.rule == "own conversation"
    ]
    judged = Item.objects.filter(assignments__participation=person, assignments__state="DONE")
    assert sorted(found) == sorted((person.pseudonym, item.key) for item in judged)
    assert found


def both_ways(campaign: Campaign, folder: Path) -> list[tuple[str, str, str]]:
    """Return what breaks a rule, other than open votes: the database's export tells the same."""
    path = exports.write_to(campaign=campaign, path=folder / "export.zip")
    found = [
        sorted(
            (one.rule, one.rater, one.item) for one in checked.broken if one.rule not in OPEN_VOTES
        )
        for checked in (assignment_rules.of_campaign(campaign), assignment_rules.of_export(path))
    ]
    assert found[0] == found[1]
    return found[0]


def is_really(campaign: Campaign, external_id: str) -> Participation:
    """Let the only rater of a campaign have been somebody else, whom nothing had kept out."""
    person = Participation.objects.get(campaign=campaign)
    ExternalId.objects.filter(participation=person).update(value=external_id)
    return person


def done_by(person: Participation) -> list[str]:
    done = Item.objects.filter(assignments__participation=person, assignments__state="DONE")
    return sorted(done.values_list("key", flat=True))


def test_own_conversations_are_told_by_the_export_too(tmp_path: Path) -> None:
    campaign = labeling(chatted(1))
    judge_all(campaign, "stranger")
    assert both_ways(campaign, tmp_path) == []
    person = is_really(campaign, "p0")
    expected = [("own conversation", person.pseudonym, item) for item in done_by(person)]
    assert expected
    assert both_ways(campaign, tmp_path) == expected


def test_who_judged_a_conversation_before_is_told(tmp_path: Path) -> None:
    source = chatted(1)
    judge_all(labeling(source), "early")
    again = opened("meena_second_panel", source)
    judge_all(again, "stranger")
    assert both_ways(again, tmp_path) == []
    person = is_really(again, "early")
    expected = [("judged before", person.pseudonym, item) for item in done_by(person)]
    assert expected
    assert both_ways(again, tmp_path) == expected


def test_who_judged_before_breaks_nothing_where_that_is_allowed(tmp_path: Path) -> None:
    source = chatted(1)
    judge_all(labeling(source), "early")
    again = labeling(source)
    judge_all(again, "stranger")
    is_really(again, "early")
    assert both_ways(again, tmp_path) == []


def test_an_author_who_revised_their_own_text_is_told(tmp_path: Path) -> None:
    campaign = revising(*SENTENCES)
    person = came(campaign, "ben")
    for name, text in zip(fields(person), REVISED, strict=True):
        offering.submit(person=person, answers={name: text}, now=NOW)
    assert both_ways(campaign, tmp_path) == []
    is_really(campaign, "author")
    assert both_ways(campaign, tmp_path) == [("own text", person.pseudonym, *done_by(person))]


def test_who_judged_their_own_reply_is_told(tmp_path: Path) -> None:
    source = of_replies(**{"write.batch": 1})
    row = accepted(source, "ann", "Very well.")
    campaign = judging(source)
    person = enrolment.start(person=join(campaign, "stranger"), now=NOW)
    judge(person)
    assert both_ways(campaign, tmp_path) == []
    is_really(campaign, "ann")
    assert row.texts == ["Very well."]
    assert both_ways(campaign, tmp_path) == [("own text", person.pseudonym, *done_by(person))]


def onboarded() -> tuple[Campaign, Participation]:
    rows = [*map(known_row, range(4)), *rows_of(12)]
    changes = {"votes": 2, "batch": 7}
    campaign = onboarding_campaign(Onboarding(items=4, share=0.75), rows, **changes)
    judged.judge(
        campaign,
        1,
        lambda question, context, systems, rater: (
            "human" if context.startswith("known") else systems[0]
        ),
    )
    return campaign, Participation.objects.get(campaign=campaign)


def test_an_item_that_came_before_the_known_ones_is_told(tmp_path: Path) -> None:
    campaign, person = onboarded()
    assert both_ways(campaign, tmp_path) == []
    last = Rating.objects.filter(assignment__item__known=False).last()
    assert last is not None
    rows = Rating.objects.filter(assignment=last.assignment)
    rows.update(made_at=person.joined_at - timedelta(days=1))
    expected = [("onboarding", person.pseudonym, last.assignment.item.key)]
    assert both_ways(campaign, tmp_path) == expected


def test_a_rater_who_lacks_a_known_item_is_told(tmp_path: Path) -> None:
    campaign, person = onboarded()
    lacking = Item.objects.filter(known=True, assignments__participation=person).first()
    Rating.objects.filter(assignment__item=lacking).delete()
    others = Item.objects.filter(known=False, assignments__participation=person)
    expected = sorted(("onboarding", person.pseudonym, item.key) for item in others)
    assert len(expected) == 3
    assert both_ways(campaign, tmp_path) == expected


def test_who_was_below_the_share_and_judged_on_is_told(tmp_path: Path) -> None:
    campaign, person = onboarded()
    Participation.objects.update(outcome=Participation.Outcome.ONBOARDING)
    others = Item.objects.filter(known=False, assignments__participation=person)
    expected = sorted(("onboarding", person.pseudonym, item.key) for item in others)
    assert both_ways(campaign, tmp_path) == expected


def test_known_items_of_who_is_set_aside_are_no_votes(tmp_path: Path) -> None:
    campaign, _ = onboarded()
    Participation.objects.update(excluded="spam")
    assert both_ways(campaign, tmp_path) == []


def test_raters_whose_ids_are_gone_are_counted() -> None:
    campaign = labeling(chatted(1))
    judge_all(campaign, "stranger")
    assert assignment_rules.of_campaign(campaign).unknown == 0
    ExternalId.objects.filter(participation__campaign=campaign).delete()
    checked = assignment_rules.of_campaign(campaign)
    assert str(checked).endswith("; ids of 1 are deleted: where else they took part is unknown")


@pytest.mark.parametrize("name", ["nothing.zip", "nobody"])
def test_what_is_not_there_is_named(name: str) -> None:
    with pytest.raises(CommandError, match=name):
        call_command("check_assignments", name)
