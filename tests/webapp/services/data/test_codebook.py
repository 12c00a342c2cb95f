"""Settings and words in plan and codebook: the same rows, whatever froze the plan."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from django.urls import reverse

from analysis import read
from evaluation import TAGS
from evaluation.registry import get_protocol, protocol_names
from evaluation.words import words_of
from tests.factories import make_campaign, make_staff
from tests.webapp.services import rated
from tests.webapp.views.patient import Patient
from webapp.models import Campaign
from webapp.services.campaign import launch
from webapp.services.data import codebook, exports
from webapp.services.results import page as results_page
from webapp.services.staff_forms import source_settings

pytestmark = pytest.mark.django_db
OLD_PLAN = Path(__file__).parents[3] / "data" / "plan_schema_1.json"  # frozen by release 0.1.0
FIELDS = {
    *("setting", "label", "value", "source_value", "departure"),
    *("provenance", "provenance_text", "where"),
}


WORD_FIELDS = {
    *("field", "text", "quoted", "exact"),
    *("provenance", "provenance_text", "where"),
}


def frozen(campaign: Campaign, plan: dict[str, Any] | None = None) -> Campaign:
    """Return the campaign with a plan, by default its own."""
    campaign.refresh_from_db()
    campaign.plan = plan or launch.plan_of(campaign)
    campaign.plan_hash = launch.plan_hash(campaign.plan)
    campaign.save()
    return campaign


def with_old_plan() -> Campaign:
    """Return a campaign whose plan was frozen when a setting's fields had other names."""
    made = rated.personachat(each=3, changes={"chat.minimum": [6, 8]})
    return frozen(made, json.loads(OLD_PLAN.read_text("utf-8")))


def exported(campaign: Campaign, folder: Path) -> tuple[Any, Any]:
    """Return plan and codebook of one export."""
    return parts(exports.write_to(campaign=campaign, path=folder / "export.zip"))


def parts(path: Path) -> tuple[Any, Any]:
    with zipfile.ZipFile(path) as archive:
        plan, book = (json.loads(archive.read(name)) for name in ("plan.json", "codebook.json"))
    return plan, book


def of_plan(campaign: Campaign, folder: Path) -> tuple[Any, Any]:
    """Return plan and codebook as `exported`, of an archive without any other file."""
    archive = exports.Archive(folder / "plan.zip")
    with archive.zip:
        exports.add_plan(archive, campaign, codebook.codebook(campaign))
    return parts(folder / "plan.zip")


def changed(name: str) -> dict[str, Any]:
    """Return another value for one setting of a protocol, and for another its own."""
    first, *left = get_protocol(name).settings()
    kind = type(source_settings.plain(first.value))
    others: dict[type, Any] = {list: [4], str: "Hello you!", bool: False}
    other = others.get(kind, 3 if first.value == 2 else 2)
    unchanged = {each.name: source_settings.plain(each.value) for each in left[:1]}
    return {first.name: other, **unchanged}


@pytest.mark.parametrize("name", protocol_names())
def test_plan_and_codebook_of_an_export_say_the_same_of_every_setting(
    name: str, tmp_path: Path
) -> None:
    campaign = frozen(make_campaign(name, changes=changed(name), personas=0))
    plan, book = of_plan(campaign, tmp_path)
    rows = plan["protocol"]["settings"]
    assert book["settings"] == rows
    known = {setting.name: setting for setting in get_protocol(name).settings()}
    assert [row["setting"] for row in rows] == list(known)
    for row in rows:
        assert set(row) == FIELDS
        source = known[row["setting"]].source
        assert (row["provenance"], row["where"]) == (source.tag, source.where)
        assert row["provenance_text"] == TAGS[row["provenance"]]
        assert row["departure"] == (row["value"] != row["source_value"])
    assert [row["setting"] for row in rows if row["departure"]] == [next(iter(changed(name)))]


@pytest.mark.parametrize("name", protocol_names())
def test_plan_and_codebook_of_an_export_have_the_provenance_of_every_text(
    name: str, tmp_path: Path
) -> None:
    plan, book = of_plan(frozen(make_campaign(name, personas=0)), tmp_path)
    rows = {row["field"]: row for row in plan["protocol"]["words"]}
    assert book["words"] == plan["protocol"]["words"]
    known = dict(words_of(get_protocol(name)))
    assert list(rows) == list(known)
    for field, words in known.items():
        row = rows[field]
        assert set(row) == WORD_FIELDS
        assert (row["text"], row["provenance"], row["where"]) == (words, words.tag, words.where)
        assert row["provenance_text"] == TAGS[words.tag]
        assert (row["quoted"], row["exact"]) == (words.quoted, list(words.exact))


def test_words_that_a_requester_changed_are_no_longer_the_sources(tmp_path: Path) -> None:
    made = make_campaign("meena_interactive", changes={"chat.opening": "Hello you!"})
    plan, _ = exported(frozen(made), tmp_path)
    (row,) = (row for row in plan["protocol"]["words"] if row["field"] == "chat.opening")
    assert (row["text"], row["provenance"], row["quoted"]) == ("Hello you!", "D", False)


def test_a_draft_has_the_rows_that_its_plan_would_have() -> None:
    campaign = make_campaign(changes={"chat.minimum": [6, 8]})
    campaign.refresh_from_db()
    protocol, book = launch.plan_of(campaign)["protocol"], codebook.codebook(campaign)
    assert book["settings"] == protocol["settings"]
    assert book["words"] == protocol["words"]


def test_the_codebook_for_readers_names_what_the_source_has() -> None:
    campaign = make_campaign(changes={"chat.minimum": [6, 8]})
    text = codebook.as_markdown(codebook.codebook(campaign))
    assert "| chat.minimum | [6, 8] | changed by the requester from [12, 14, 16] (stated by" in text
    assert "| chat.pace | 0.5 | from the authors' released code: released evaluation code" in text
    assert (
        "| instructions.1 | Please chat with the other person naturally and try to get to know "
        "each other. | stated by the paper: section 3.3, quoted: “chat with" in text
    )
    assert "| rate.fluency.text | Fluency: judge the fluency" in text
    assert "appendix C, to the letter: “Fluency”; “judge the fluency" in text
    assert "your character. | stated by the paper: section 3.3 |" in text, "a paraphrase"
    assert "about the other speaker. | our default: ours |" in text


def test_a_change_to_the_sources_value_is_no_departure() -> None:
    same = {"chat.minimum": [12, 14, 16], "chat.pace": 0.5}
    protocol = get_protocol("personachat_bot")
    assert not any(row["departure"] for row in source_settings.rows(protocol, same))
    assert source_settings.departures(protocol, same) == []


def test_an_old_plan_is_exported_as_it_was_frozen_and_its_codebook_in_todays_words(
    tmp_path: Path,
) -> None:
    campaign = with_old_plan()
    plan, book = exported(campaign, tmp_path)
    assert plan == json.loads(OLD_PLAN.read_text("utf-8"))
    assert launch.plan_hash(plan) == campaign.plan_hash
    rows = {row["setting"]: row for row in book["settings"]}
    assert {frozenset(row) for row in rows.values()} == {frozenset(FIELDS)}
    assert list(rows) == [row["name"] for row in plan["protocol"]["settings"]]
    for old in plan["protocol"]["settings"]:
        row = rows[old["name"]]
        assert row["departure"] == old["departs"]
        for name in ("label", "value", "source_value", "provenance", "where"):
            assert row[name] == old[name]
    assert rows["chat.minimum"]["provenance_text"] == "stated by the paper"
    assert book["words"] == []
    assert "## Words" not in codebook.as_markdown(book)


def test_an_export_of_an_old_plan_is_read_with_its_departures(tmp_path: Path) -> None:
    path = exports.write_to(campaign=with_old_plan(), path=tmp_path / "export.zip")
    study = read(path).study
    assert study is not None
    assert [row["setting"] for row in study.departures] == ["chat.minimum"]


def test_the_pages_of_an_old_plan_open_and_name_its_departures() -> None:
    client = Patient()
    campaign, ann = with_old_plan(), make_staff("ann")
    campaign.owner = ann
    campaign.save()
    client.force_login(ann)
    pages = {
        name: client.get(reverse(name, args=[campaign.pk]))
        for name in ("campaign", "plan", "results")
    }
    assert {page.status_code for page in pages.values()} == {200}
    assert json.loads(pages["plan"].content) == campaign.plan
    told = "least messages, drawn from: 6, 8 in place of 12, 14, 16"
    assert any(told in each for each in results_page.page(of=campaign).methods)
