"""What every metric must do: tidy columns, no care for order or labels, nothing from nothing."""

from __future__ import annotations

import re
from functools import cache

import pandas as pd
import pytest

from analysis import get_metric, metric_names
from analysis.registry import table_of
from analysis.tables.tidy import COLUMNS
from tests.analysis.examples import ROOT
from tests.analysis.samples import EMPTY, tables


def _computed(name: str, table: pd.DataFrame) -> pd.DataFrame:
    return get_metric(name)(table)


@cache
def _usual(name: str) -> pd.DataFrame:
    """Return the metric on the sample, computed once: some fit models."""
    return _computed(name, tables()[table_of(get_metric(name))])


# One process has all tests of a metric.
@pytest.fixture(
    params=[pytest.param(name, marks=pytest.mark.xdist_group(name)) for name in metric_names()]
)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def table(name: str) -> pd.DataFrame:
    return tables()[table_of(get_metric(name))]


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


def test_an_estimate_that_is_missing_has_a_reason(name: str, table: pd.DataFrame) -> None:
    one = table.iloc[:1]
    found = _computed(name, one)
    missing = found[found["estimate"].isna()]
    assert missing.empty or missing["reason"].notna().all()


def test_order_of_rows_does_not_matter(name: str, table: pd.DataFrame) -> None:
    turned = table.iloc[::-1]
    pd.testing.assert_frame_equal(_computed(name, turned), _usual(name))


def test_labels_of_rows_do_not_matter(name: str, table: pd.DataFrame) -> None:
    relabeled = table.set_axis([f"x{k}" for k in range(len(table))], axis="index")
    pd.testing.assert_frame_equal(_computed(name, relabeled), _usual(name))


def test_names_of_things_do_not_matter(name: str, table: pd.DataFrame) -> None:
    names = [c for c in ("item", "rater", "answer", "conversation", "message") if c in table]
    renamed = table.copy()
    for column in names:
        blank = renamed[column] == ""
        renamed[column] = ("z" + renamed[column].str[::-1]).mask(blank, "")
    pd.testing.assert_frame_equal(_computed(name, renamed), _usual(name))


def test_names_of_systems_do_not_matter(name: str, table: pd.DataFrame) -> None:
    swap = {"s0": "s9", "s1": "s5", "s2": "s1"}
    renamed = table.assign(system=table["system"].replace(swap))
    found = _computed(name, renamed).set_index(["question", "system", "metric"]).sort_index()
    usual = _usual(name).copy()
    usual["system"] = usual["system"].replace(swap)
    usual = usual.set_index(["question", "system", "metric"]).sort_index()
    columns = ["estimate", "low", "high", "n"]
    if "other_system" not in usual:
        pd.testing.assert_frame_equal(found[columns], usual[columns])
    else:
        assert sorted(found["estimate"].round(9)) == sorted(usual["estimate"].round(9))


def test_nothing_comes_from_an_empty_table(name: str) -> None:
    found = _computed(name, EMPTY[table_of(get_metric(name))])
    assert found.empty
    assert tuple(found.columns) == COLUMNS


def test_the_table_given_is_left_alone(name: str, table: pd.DataFrame) -> None:
    before = table.copy(deep=True)
    _computed(name, table)
    pd.testing.assert_frame_equal(table, before)


def test_has_a_docstring_with_a_source_and_a_test(name: str) -> None:
    source = (ROOT / "analysis" / "metrics" / f"{name}.py").read_text(encoding="utf-8")
    docstring = source.split('"""')[1]
    named = re.search(r"\b(19|20)\d\d\b", docstring) or "no paper" in docstring.lower()
    assert named, "name the source with its year, or say that there is no paper"
    assert (ROOT / "tests" / "analysis" / "metrics" / f"test_{name}.py").exists()
