"""Answers in words beside numbers: in tables, in every file of an export, in its analysis."""

from __future__ import annotations

import csv
import io
import subprocess
import sys
import zipfile
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import pytest

from analysis import evaluate, get_report, rating_table, read, report_names
from analysis.__main__ import main
from analysis.output.all_metrics import run
from analysis.registry import tables_of
from analysis.tables.schema import Tables
from tests.factories import NOW, make_campaign
from tests.webapp.services import rated
from webapp.models import Campaign, Flag, Rating
from webapp.services.data import exports, tables
from webapp.services.results import page, scores
from webapp.services.rules import flags

pytestmark = pytest.mark.django_db
ROOT = Path(__file__).parents[4]
SCALES = ("fluency", "engagingness", "consistency")
HARD = ["=1+1", "'quoted', \"twice\"\nand on two lines", "5", "1e3", "nan", "-", "＝x", "café 🙂"]


def campaign_with(texts: list[str], **answers: Any) -> Campaign:
    """Return a campaign of scales and reasons: each text is every reason of one rater."""
    campaign = make_campaign("convai2_crowd_reasons", systems={"alpha": "parrot", "beta": "parrot"})
    systems = list(campaign.systems.all())
    for number, text in enumerate(texts):
        person, talk = rated.chatted(campaign, systems[number % 2])
        scored = {name: 1 + (number + k) % 5 for k, name in enumerate(SCALES)}
        reasons = {f"{name}_reason": text for name in SCALES}
        rated.judged(person, talk, {**scored, **reasons, "persona": "p1", **answers})
    return campaign


def values(table: Any, question: str) -> list[object]:
    return list(table.loc[table["question"] == question, "value"])


def test_numbers_stay_numbers_and_texts_stay_as_they_were_written() -> None:
    table = tables.ratings(campaign_with(HARD))
    for checked in (table, rating_table(table)):
        assert values(checked, "fluency_reason") == HARD
        assert values(checked, "fluency") == [1.0, 2.0, 3.0, 4.0, 5.0, 1.0, 2.0, 3.0]
    text = table[table["question"] == "fluency_reason"]
    assert set(text["level"]) == {"text"}
    assert text[["scale_low", "scale_high"]].isna().all(axis=None)


def test_a_text_left_blank_has_no_row_and_its_session_is_complete_all_the_same() -> None:
    campaign = campaign_with(["fine", "good"])
    Rating.objects.filter(question="fluency_reason", value="good").update(value="")
    table = tables.ratings(campaign, include_excluded=True)
    assert values(table, "fluency_reason") == ["fine"]
    assert set(table["excluded"]) == {""}
    Rating.objects.filter(question="fluency_reason", value="").delete()
    table = tables.ratings(campaign, include_excluded=True)
    assert set(table["excluded"]) == {"", tables.INCOMPLETE}


def test_each_file_of_an_export_gives_the_texts_back(tmp_path: Path) -> None:
    path = exports.write_to(campaign=campaign_with(HARD), path=tmp_path / "export.zip")
    found = read(path).ratings
    assert found is not None
    assert values(found, "consistency_reason") == HARD
    with zipfile.ZipFile(path) as archive:
        for name in ("ratings.csv", "ratings.parquet"):
            (tmp_path / name).write_bytes(archive.read(name))
            again = read(tmp_path / name).ratings
            assert again is not None
            assert values(again, "consistency_reason") == HARD
            assert values(again, "fluency") == values(found, "fluency")
        rows = csv.DictReader(io.StringIO(archive.read("ratings.csv").decode(), newline=""))
    cells = [row["value"] for row in rows if row["question"] == "fluency_reason"]
    assert [cell[0] for cell in cells if cell[0] in "=+-@＝"] == [], "a spreadsheet runs none"


def test_no_number_comes_from_a_text_and_every_other_number_is_the_same() -> None:
    table = rating_table(tables.ratings(campaign_with([*HARD, *HARD])))
    without = rating_table(table[table["level"] != "text"])
    found, expected = evaluate(table), evaluate(without)
    assert not found["question"].str.endswith("_reason").any()
    assert found.equals(expected)
    assert "fluency" in set(found["question"])


def test_every_report_reads_them_and_the_summary_and_the_pages_too() -> None:
    campaign = campaign_with([*HARD, *HARD])
    table = rating_table(tables.ratings(campaign))
    messages = tables.described_messages(campaign)
    for name in report_names():
        made = run(get_report(name), Tables(ratings=table, messages=messages), {"seed": 1})
        assert (made is None) == ("predictions" in tables_of(get_report(name))), name
    shown = page.page(of=campaign)
    assert not shown.problems
    assert shown.findings
    assert {score.question for score in scores.scores(campaign)} >= set(SCALES)


def test_the_command_prints_the_report_of_the_texts(tmp_path: Path) -> None:
    path = exports.write_to(campaign=campaign_with(HARD), path=tmp_path / "export.zip")
    words = [str(path), "--simulate", "0"]
    with redirect_stdout(io.StringIO()) as summary:
        assert main(words) == 0
    assert "fluency" in summary.getvalue()
    command = [sys.executable, "-m", "analysis", *words, "--report", "written_answers"]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert "24 answers in the raters' own words" in told
    assert "café 🙂" in told


def test_no_flag_repeats_a_text() -> None:
    campaign = campaign_with(["my secret words"])
    Rating.objects.filter(question__in=SCALES).update(value=3)
    person = campaign.participations.get()
    flags.review(person=person, now=NOW)
    assert Flag.objects.filter(kind="straight_lined").exists()
    assert not Flag.objects.filter(detail__contains="secret").exists()
