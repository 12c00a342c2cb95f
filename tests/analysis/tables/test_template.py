"""The template of a table of ratings, and the page that says what its columns mean."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from analysis import read
from analysis.__main__ import main
from analysis.tables.columns import OPTIONAL_COLUMNS, OTHER_NAMES, RATING_COLUMNS, REQUIRED
from analysis.tables.defaults import MOST_POINTS
from analysis.tables.template import main as template
from tests.analysis.examples import ROOT

PAGE = ROOT / "docs" / "ratings_table.md"


@pytest.mark.parametrize("options", [(), ("--all",)], ids=["four columns", "all columns"])
def test_the_template_passes_as_it_is(
    tmp_path: Path, options: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "template.csv"
    assert template([str(path), *options]) == 0
    capsys.readouterr()
    assert main([str(path)]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert "Overall: ours is first with" in out
    assert ("Raters agree" in out) == bool(options)
    assert bool(read(path).notes) != bool(options)


def test_the_template_has_the_columns_that_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert template([]) == 0
    assert capsys.readouterr().out.splitlines()[0].split(",") == list(REQUIRED)
    assert template(["--all"]) == 0
    header = capsys.readouterr().out.splitlines()[0].split(",")
    assert header == [*RATING_COLUMNS, *OPTIONAL_COLUMNS]


def test_a_file_that_is_there_is_not_overwritten(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "mine.csv"
    path.write_text("my answers")
    assert template([str(path)]) == 2
    assert "exists already" in capsys.readouterr().err
    assert path.read_text() == "my answers"
    assert template([str(tmp_path / "no" / "folder.csv")]) == 2


def test_the_page_names_every_column() -> None:
    text = PAGE.read_text(encoding="utf-8")
    table = text.partition("## Other names")[0]
    rows = [line.split("|")[1:3] for line in table.splitlines() if line.startswith("| `")]
    named = {
        name: needed.strip() for names, needed in rows for name in re.findall("`(.*?)`", names)
    }
    assert set(named) >= {*RATING_COLUMNS, *OPTIONAL_COLUMNS}
    assert {name for name, needed in named.items() if needed == "yes"} == set(REQUIRED)
    assert f"up to {MOST_POINTS} different whole numbers" in text


def test_the_page_has_every_other_name_and_no_more() -> None:
    part = PAGE.read_text(encoding="utf-8").partition("## Other names")[2].partition("\n## ")[0]
    lines = [line.split("|")[1:3] for line in part.splitlines() if line.startswith("| `")]
    said = {re.findall("`(.*?)`", one)[0]: re.findall("`(.*?)`", two) for one, two in lines}
    assert said == {column: list(names) for column, names in OTHER_NAMES.items()}


def test_the_example_of_the_page_is_read(tmp_path: Path) -> None:
    found = re.search(r"```csv\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert found is not None
    (tmp_path / "r.csv").write_text(found[1])
    ratings = read(tmp_path / "r.csv").ratings
    assert ratings is not None
    assert len(ratings) == 3
