"""What every report must do: findings and tables from a sample, sentences from nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

import pandas as pd
import pytest

from analysis import RatingTable, Report, Tables, get_report, rendered, report_names
from analysis.output.all_metrics import run
from analysis.scores.question_ratings import numbered, shared
from tests.analysis.examples import ROOT
from tests.analysis.samples import EMPTY, tables, two_scales

SEED = {"seed": 1}


def _report(name: str, given: dict[str, pd.DataFrame]) -> Report:
    made = run(get_report(name), Tables(**given), SEED)  # type: ignore[arg-type]
    assert made is not None
    return made


# Each table is made once, and all reports read it: what they have in common is computed once too.
_sample = cache(tables)


@cache
def _turned() -> dict[str, pd.DataFrame]:
    return {kind: table.iloc[::-1] for kind, table in _sample().items()}


@cache
def _untouched() -> dict[str, pd.DataFrame]:
    return tables()


@pytest.fixture(autouse=True, scope="module")
def _reads_once() -> Iterator[None]:
    with shared():
        yield


@cache
def _made(name: str) -> Report:
    """Return the report on the sample, made once: some simulate."""
    return _report(name, _sample())


# One process has all tests of a report.
@pytest.fixture(
    params=[pytest.param(name, marks=pytest.mark.xdist_group(name)) for name in report_names()]
)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_the_sample_has_a_finding_and_tables_under_titles(name: str) -> None:
    report = _made(name)
    assert report.name == name
    assert report.title
    assert report.findings
    assert report.sections
    assert all(section.title and len(section.frame.columns) for section in report.sections)
    assert report.title in rendered(report)


def test_empty_tables_get_a_sentence(name: str) -> None:
    report = _report(name, EMPTY)
    assert report.findings
    assert all(finding.strip() and "nan" not in finding.lower() for finding in report.findings)
    assert rendered(report)


def test_the_order_of_rows_does_not_matter(name: str) -> None:
    assert rendered(_report(name, _turned())) == rendered(_made(name))


@pytest.mark.parametrize(
    "ratings", [RatingTable(_sample()["ratings"]), two_scales()], ids=["all", "scales"]
)
def test_names_may_be_categories_in_the_summary(ratings: RatingTable) -> None:
    """As those of ratings are on the results page and on the command line."""
    made = [_report("summary", {"ratings": form}) for form in (ratings, numbered(ratings))]
    assert rendered(made[0]) == rendered(made[1])


def test_the_tables_given_are_left_alone(name: str) -> None:
    _made(name)
    for kind, table in _untouched().items():
        pd.testing.assert_frame_equal(_sample()[kind], table)


def test_has_a_docstring_and_a_test(name: str) -> None:
    source = (ROOT / "analysis" / "reports" / f"{name}.py").read_text(encoding="utf-8")
    assert len(source.split('"""')[1].split()) > 8
    folder = ROOT / "tests" / "analysis" / "reports"
    tested = (path.read_text(encoding="utf-8") for path in folder.glob("test_*.py"))
    assert any(re.search(rf"\b{name}\b", text) for text in tested)
