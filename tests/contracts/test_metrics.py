"""What every metric must do: tidy columns, no care for order or labels, nothing from nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

import pandas as pd
import pytest

from analysis import RatingTable, get_metric, metric_names
from analysis.registry import table_of
from analysis.scores.question_ratings import numbered, shared
from analysis.tables.tidy import COLUMNS
from tests.analysis.examples import ROOT
from tests.analysis.samples import EMPTY, tables, two_scales


def _computed(name: str, table: pd.DataFrame) -> pd.DataFrame:
    return get_metric(name)(table)


# Each table is made once, and all metrics read it: what they have in common is computed once too.
_sample = cache(tables)


@pytest.fixture(autouse=True, scope="module")
def _reads_once() -> Iterator[None]:
    with shared():
        yield


@cache
def _usual(name: str) -> pd.DataFrame:
    """Return the metric on the sample, computed once: some fit models."""
    return _computed(name, _sample()[table_of(get_metric(name))])


@cache
def _untouched() -> dict[str, pd.DataFrame]:
    return tables()


@cache
def _turned(kind: str) -> pd.DataFrame:
    return _sample()[kind].iloc[::-1]


@cache
def _relabeled(kind: str) -> pd.DataFrame:
    table = _sample()[kind]
    return table.set_axis([f"x{k}" for k in range(len(table))], axis="index")


@cache
def _numbered() -> pd.DataFrame:
    return numbered(RatingTable(_sample()["ratings"]))


@cache
def _renamed(kind: str) -> pd.DataFrame:
    renamed = _sample()[kind].copy()
    for column in ("item", "rater", "answer", "conversation", "message"):
        if column in renamed:
            blank = renamed[column] == ""
            renamed[column] = ("z" + renamed[column].str[::-1]).mask(blank, "")
    return renamed


SWAP = {"s0": "s9", "s1": "s5", "s2": "s1"}


@cache
def _swapped(kind: str) -> pd.DataFrame:
    table = _sample()[kind]
    return table.assign(system=table["system"].replace(SWAP))


# One process has all tests of a metric.
@pytest.fixture(
    params=[pytest.param(name, marks=pytest.mark.xdist_group(name)) for name in metric_names()]
)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def kind(name: str) -> str:
    return table_of(get_metric(name))


def test_applies_to_the_sample_and_is_tidy(name: str) -> None:
    found = _usual(name)
    assert len(found) > 0
    assert tuple(found.columns[: len(COLUMNS)]) == COLUMNS
    assert all(found[column].dtype == float for column in ("estimate", "low", "high"))
    assert found["n"].dtype == "int64"
    assert not found[["metric", "protocol", "question", "system"]].isna().any(axis=None)
    known = found.dropna(subset=["estimate", "low", "high"])
    assert (known["low"] <= known["estimate"]).all()
    assert (known["estimate"] <= known["high"]).all()


def test_an_estimate_that_is_missing_has_a_reason(name: str, kind: str) -> None:
    one = _sample()[kind].iloc[:1]
    found = _computed(name, one)
    missing = found[found["estimate"].isna()]
    assert missing.empty or missing["reason"].notna().all()


def test_order_of_rows_does_not_matter(name: str, kind: str) -> None:
    pd.testing.assert_frame_equal(_computed(name, _turned(kind)), _usual(name))


def test_labels_of_rows_do_not_matter(name: str, kind: str) -> None:
    pd.testing.assert_frame_equal(_computed(name, _relabeled(kind)), _usual(name))


def test_names_of_things_do_not_matter(name: str, kind: str) -> None:
    pd.testing.assert_frame_equal(_computed(name, _renamed(kind)), _usual(name))


def test_names_may_be_categories(name: str, kind: str) -> None:
    """As those of ratings are on the results page and on the command line."""
    if kind == "ratings":
        pd.testing.assert_frame_equal(_computed(name, _numbered()), _usual(name))
        plain = two_scales()
        found, wanted = _computed(name, numbered(plain)), _computed(name, plain)
        pd.testing.assert_frame_equal(found, wanted)


def test_names_of_systems_do_not_matter(name: str, kind: str) -> None:
    found = _computed(name, _swapped(kind)).set_index(["question", "system", "metric"]).sort_index()
    usual = _usual(name).copy()
    usual["system"] = usual["system"].replace(SWAP)
    usual = usual.set_index(["question", "system", "metric"]).sort_index()
    columns = ["estimate", "low", "high", "n"]
    if "other_system" not in usual:
        pd.testing.assert_frame_equal(found[columns], usual[columns])
    else:
        assert sorted(found["estimate"].round(9)) == sorted(usual["estimate"].round(9))


def test_nothing_comes_from_an_empty_table(name: str, kind: str) -> None:
    found = _computed(name, EMPTY[kind])
    assert found.empty
    assert tuple(found.columns) == COLUMNS


def test_the_table_given_is_left_alone(name: str, kind: str) -> None:
    table = _untouched()[kind].copy(deep=True)
    _computed(name, table)
    pd.testing.assert_frame_equal(table, _untouched()[kind])


def test_has_a_docstring_with_a_source_and_a_test(name: str) -> None:
    source = (ROOT / "analysis" / "metrics" / f"{name}.py").read_text(encoding="utf-8")
    docstring = source.split('"""')[1]
    named = re.search(r"\b(19|20)\d\d\b", docstring) or "no paper" in docstring.lower()
    assert named, "name the source with its year, or say that there is no paper"
    assert (ROOT / "tests" / "analysis" / "metrics" / f"test_{name}.py").exists()
