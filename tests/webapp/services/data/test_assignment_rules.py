"""Rules of assignment: each is broken on purpose, and told by rule, person and item."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from evaluation import Preference, Protocol, Rate
from evaluation.registry import get_protocol
from tests.asking import imported
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
from tests.webapp.services.third import chatted, judge_all, labeling
from webapp.models import Campaign, ExternalId, Item, Participation, Rating
from webapp.services.data import assignment_rules, exports
from webapp.services.data.assignment_rules import violations

pytestmark = pytest.mark.django_db
Row = dict[str, Any]


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
        assert capsys.readouterr().out.strip() == expected


def test_third_parties_who_judge_their_own_conversation_are_told() -> None:
    campaign = labeling(chatted(1))
    judge_all(campaign, "stranger")
    assert "own conversation" not in {one.rule for one in assignment_rules.of_campaign(campaign)}
    person = Participation.objects.get(campaign=campaign)
    ExternalId.objects.filter(participation=person).update(value="p0")
    found = [
        (one.rater, one.item)
        for one in assignment_rules.of_campaign(campaign)
        if one.rule == "own conversation"
    ]
    judged = Item.objects.filter(assignments__participation=person, assignments__state="DONE")
    assert sorted(found) == sorted((person.pseudonym, item.key) for item in judged)
    assert found


@pytest.mark.parametrize("name", ["nothing.zip", "nobody"])
def test_what_is_not_there_is_named(name: str) -> None:
    with pytest.raises(CommandError, match=name):
        call_command("check_assignments", name)
