"""Export of a study: the tables of its campaigns together, and the numbers of its pages."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from pathlib import Path

import pandas as pd
import pytest

from analysis import get_report, read
from analysis.__main__ import main
from analysis.registry import of_studies, tables_read
from tests.webapp.services import rated
from tests.webapp.services.studies import make_study
from webapp.models import AuditEntry, Study
from webapp.services.campaign import studies
from webapp.services.data import exports, study_exports
from webapp.services.results import page

pytestmark = pytest.mark.django_db


@pytest.fixture
def study() -> Study:
    """A study of three campaigns of two protocols; personas of a key differ."""
    people = rated.personachat(each=2, panel="expert")
    persona = people.personas.get(key="p1")
    persona.sentences = ["I grow stones."]
    persona.save()
    return make_study(people, rated.personachat(each=3), rated.meena(each=2))


def rows(path: Path, name: str) -> list[dict[str, str]]:
    """Return the rows of a table of an export."""
    with zipfile.ZipFile(path) as archive:
        text = archive.read(name).decode()
    return list(csv.DictReader(io.StringIO(text, newline="")))


def test_every_table_holds_the_rows_of_all_campaigns_and_tells_them_apart(
    study: Study, tmp_path: Path
) -> None:
    path = study_exports.write_to(study=study, path=tmp_path / "study.zip")
    campaigns = studies.phases(study)
    alone = [exports.write_to(campaign=c, path=tmp_path / f"{c.pk}.zip") for c in campaigns]
    with zipfile.ZipFile(alone[0]) as archive:
        held = [name for name in archive.namelist() if name.endswith(".csv")]
    assert {"ratings.csv", "ratings_all.csv", "messages.csv", "participants.csv"} < set(held)
    for name in held:
        together = rows(path, name)
        assert {row["phase"] for row in together} == ({"p1", "p2", "p3"} if together else set())
        assert together or name in (
            "admission.csv",
            "broken_rules.csv",
            "contributions.csv",
            "replies.csv",
            "reply_events.csv",
            "reviewed_answers.csv",
        ), name
        for campaign, export in zip(campaigns, alone, strict=True):
            mine = [row for row in together if row["campaign"] == f"campaign-{campaign.pk}"]
            wanted = rows(export, name)
            kept = wanted[0] if wanted else {}
            assert [{key: row[key] for key in kept} for row in mine] == wanted
    assert {row["panel"] for row in rows(path, "participants.csv") if row["phase"] == "p1"} == {
        "expert"
    }
    with zipfile.ZipFile(path) as archive:
        manifest = json.loads(archive.read("manifest.json"))
        names = set(archive.namelist())
    assert [each["phase"] for each in manifest["campaigns"]] == ["p1", "p2", "p3"]
    assert set(manifest["files"]) == names - {"manifest.json"}
    of_first = {f"campaign-{campaigns[0].pk}/{name}" for name in ("plan.json", "heds.json")}
    assert of_first < names


def test_the_same_study_gives_the_same_bytes(study: Study, tmp_path: Path) -> None:
    made = [study_exports.write_to(study=study, path=tmp_path / f"{n}.zip") for n in (1, 2)]
    assert made[0].read_bytes() == made[1].read_bytes()


def test_page_and_command_line_have_the_same_numbers(
    study: Study, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = study_exports.write_to(study=study, path=tmp_path / "study.zip")
    assert main([str(path), "--json", "--simulate", "0"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed == json.loads(json.dumps(page.numbers(of=study)))
    assert {row["protocol"] for row in printed} >= {"personachat_bot", "meena_interactive"}


def test_every_report_is_the_same_on_the_page_and_of_the_export(
    study: Study, tmp_path: Path
) -> None:
    tables = read(study_exports.write_to(study=study, path=tmp_path / "study.zip"))
    for name in of_studies():
        needed = {each: getattr(tables, each) for each in tables_read(get_report(name))}
        shown, made = page.report(of=study, name=name), get_report(name)(**needed)
        assert shown.findings == made.findings
        for one, other in zip(shown.sections, made.sections, strict=True):
            pd.testing.assert_frame_equal(one.frame, other.frame)
    names = {each.name for each in page.study_reports(study=study)}
    several = {"meena_repeatability", "meena_ssa", "personachat_human", "meena_agreement"}
    assert names == several | {"meena_static_interactive"}


def test_a_study_of_one_question_has_its_page() -> None:
    """Each report is asked whether it says something; none may need what is not there."""
    people = make_study(rated.personachat(each=2))
    assert [each.name for each in page.study_reports(study=people)] == ["personachat_human"]


def test_a_persona_has_the_sentences_of_its_own_campaign(study: Study, tmp_path: Path) -> None:
    path = study_exports.write_to(study=study, path=tmp_path / "study.zip")
    messages = read(path).messages
    assert messages is not None
    mine = messages[(messages["persona"] == "p1") & (messages["phase"] == "p1")]
    others = messages[(messages["persona"] == "p1") & (messages["phase"] == "p2")]
    assert set(mine["persona_text"]) == {"I grow stones."}
    assert all("boat number 1" in text for text in set(others["persona_text"]))


def test_that_somebody_took_it_is_logged_for_every_campaign(study: Study) -> None:
    with study_exports.download(study=study, by="ann", now=study.created_at) as file:
        assert file.read().startswith(b"PK")
    entries = AuditEntry.objects.filter(action="exported", actor="ann")
    assert {entry.campaign_id for entry in entries} == {each.pk for each in studies.phases(study)}


def test_a_study_without_phases_has_tables_without_rows(tmp_path: Path) -> None:
    empty = make_study()
    path = study_exports.write_to(study=empty, path=tmp_path / "empty.zip")
    assert rows(path, "ratings.csv") == []
    assert page.page(of=empty).answers == 0
    assert page.study_reports(study=empty) == []
