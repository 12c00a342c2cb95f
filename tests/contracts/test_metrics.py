"""What every metric must do: tidy columns, no care for order or labels, nothing from nothing."""

from __future__ import annotations

import re

import pandas as pd
import pytest

from analysis import (
    get_metric,
    message_table,
    metric_names,
    prediction_table,
    rating_table,
)
from analysis.registry import table_of
from analysis.tables import MESSAGE_COLUMNS, PREDICTION_COLUMNS, RATING_COLUMNS
from analysis.tidy import COLUMNS
from tests.analysis.examples import ROOT

SCORES = [4, 2, 5, 3, 1, 4, 2, 5, 3, 3, 5, 5]
EMPTY = {
    "ratings": rating_table(pd.DataFrame(columns=list(RATING_COLUMNS))),
    "messages": message_table(pd.DataFrame(columns=list(MESSAGE_COLUMNS))),
    "predictions": prediction_table(pd.DataFrame(columns=list(PREDICTION_COLUMNS))),
}


def _rating_rows() -> list[dict[str, object]]:
    """Return rows to which all metrics of ratings apply: scales, a guess, labels of five raters."""
    rows: list[dict[str, object]] = []
    for k, score in enumerate(SCORES):
        about = {"protocol": "chat", "item": f"d{k}", "system": f"s{k % 3}", "rater": f"r{k % 4}"}
        rows.append({**about, "question": "fluency", "level": "ordinal", "value": score})
        rows.append({**about, "question": "persona", "level": "nominal", "value": k % 2})
    for k in range(24):
        for system in range(3):
            about = {"protocol": "beside", "item": f"b{k}", "system": f"s{system}"}
            position = 1 + (system + (7 * k) // 5) % 3
            row = {**about, "rater": f"r{k % 4}", "question": "order", "value": position}
            rows.append({**row, "level": "rank", "place": (system + k) % 3})
    for item in range(8):
        for rater in range(5):
            sensible = int((item * rater) % 3 > 0)
            about = {"protocol": "static", "item": f"c{item // 2}", "system": f"s{item % 2}"}
            for question, value in (("sensible", sensible), ("specific", sensible * (item % 2))):
                row = {**about, "rater": f"r{rater}", "question": question, "value": value}
                rows.append({**row, "level": "nominal"})
    for item in range(6):
        for rater in range(5):
            about = {"protocol": "roles", "item": f"u{item}", "system": f"s{item % 2}"}
            row = {**about, "rater": f"r{rater}", "question": "likely", "level": "nominal"}
            rows.append({**row, "value": int(rater <= item)})
    return rows


def _message_rows() -> list[dict[str, object]]:
    """Return messages to which all metrics apply: both sides, personas, users, times."""
    said = ["Hi there!", "I like tea.", "I like tea.", "Tea is good.", "Why not?", "No idea, sorry"]
    rows: list[dict[str, object]] = []
    for k, text in enumerate(said * 4):
        talk, is_bot = k // 6, k % 2 == 0
        row = {"message": f"m{k}", "conversation": f"v{talk}", "seq": k, "text": text}
        row |= {"side": "a" if is_bot else "b", "system": f"s{talk % 2}" if is_bot else "human"}
        row |= {"persona": "I like tea.\nI have a dog.", "user": "" if is_bot else f"u{talk // 2}"}
        rows.append({**row, "sent_at": f"2026-01-{1 + talk:02}T12:00:{2 * (k % 6):02}Z"})
    return rows


def _prediction_rows() -> list[dict[str, object]]:
    """Return predictions to which all metrics apply: 100 candidates, log probabilities, extras."""
    said = [f"We met {k} owls at the old lake today." for k in range(100)]
    rows: list[dict[str, object]] = []
    for k in range(12):
        scores = [((7 * k + 13 * place) % 50) / 10 for place in range(100)]
        row = {
            "prediction": f"p{k}",
            "system": f"s{k % 2}",
            "dataset": "d",
            "example": f"e{k // 2}",
            "context": ["Hi!", "How was your trip to the lake?"],
            "gold": said[k],
            "response": said[max(range(100), key=scores.__getitem__)],
            "candidates": said,
            "scores": scores,
            "log_probs": [-1.0, -0.5 * k, None],
        }
        extras = {"token_hits": [1, k % 2], "discriminator": 0.5, "gold_score": 1.0}
        rows.append({**row, **extras, "batch": f"b{k % 3}"})
    return rows


def _tables() -> dict[str, pd.DataFrame]:
    rows = [
        {"answer": f"a{k}", "campaign": "c", "place": 0, **row}
        for k, row in enumerate(_rating_rows())
    ]
    return {
        "ratings": rating_table(pd.DataFrame(rows)),
        "messages": message_table(pd.DataFrame(_message_rows())),
        "predictions": prediction_table(pd.DataFrame(_prediction_rows())),
    }


def _computed(name: str, table: pd.DataFrame) -> pd.DataFrame:
    return get_metric(name)(table)


@pytest.fixture(params=metric_names())
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def table(name: str) -> pd.DataFrame:
    return _tables()[table_of(get_metric(name))]


def test_applies_to_the_sample_and_is_tidy(name: str, table: pd.DataFrame) -> None:
    found = _computed(name, table)
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
    pd.testing.assert_frame_equal(_computed(name, turned), _computed(name, table))


def test_labels_of_rows_do_not_matter(name: str, table: pd.DataFrame) -> None:
    relabeled = table.set_axis([f"x{k}" for k in range(len(table))], axis="index")
    pd.testing.assert_frame_equal(_computed(name, relabeled), _computed(name, table))


def test_names_of_things_do_not_matter(name: str, table: pd.DataFrame) -> None:
    names = [c for c in ("item", "rater", "answer", "conversation", "message") if c in table]
    renamed = table.copy()
    for column in names:
        renamed[column] = "z" + renamed[column].str[::-1]
    pd.testing.assert_frame_equal(_computed(name, renamed), _computed(name, table))


def test_names_of_systems_do_not_matter(name: str, table: pd.DataFrame) -> None:
    swap = {"s0": "s9", "s1": "s5", "s2": "s1"}
    renamed = table.assign(system=table["system"].replace(swap))
    found = _computed(name, renamed).set_index(["question", "system", "metric"]).sort_index()
    usual = _computed(name, table)
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
    assert re.search(r"\b(19|20)\d\d\b", docstring), "the docstring names no source with its year"
    assert (ROOT / "tests" / "analysis" / "metrics" / f"test_{name}.py").exists()
