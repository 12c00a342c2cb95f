"""All metrics at once, and as JSON."""

from __future__ import annotations

import json
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis import BadTable, evaluate, records, rendered, summary
from analysis.tables.tidy import COLUMNS
from tests.analysis.examples import labels, ratings, raw, simulated


def test_all_that_applies_stands_below_each_other() -> None:
    found = evaluate(simulated())
    assert tuple(found.columns[: len(COLUMNS)]) == COLUMNS
    assert {"likert", "calibrated_score", "win_probability", "krippendorff_alpha"} <= set(
        found["metric"]
    )
    assert "ssa" not in set(found["metric"])
    assert "ssa" in set(evaluate(labels([("s", "i", "r", 1, 1)]))["metric"])


def test_a_plain_frame_is_checked_first() -> None:
    with pytest.raises(BadTable, match="row 1: value is 'x'"):
        evaluate(raw([{"value": "x"}]))


def test_options_reach_the_metrics_that_take_them() -> None:
    found = evaluate(simulated(), control="s0")
    standardized = found[found["metric"] == "standardized_score"]
    assert set(standardized["control"]) == {"s0"}
    assert set(standardized["raters_kept"]) == {0}, "four ratings are too few for the test"
    assert standardized["reason"].str.startswith("no rater was found").all()


def test_the_seed_decides_every_digit() -> None:
    table = simulated()
    pd.testing.assert_frame_equal(evaluate(table, seed=4), evaluate(table, seed=4))
    assert not evaluate(table, seed=4)["estimate"].equals(evaluate(table, seed=5)["estimate"])


def test_json_has_null_and_never_nan() -> None:
    said = records(evaluate(ratings([{"value": 3}])))
    text = json.dumps(said, allow_nan=False)
    assert json.loads(text) == said
    likert = next(row for row in said if row["metric"] == "likert")
    assert (likert["estimate"], likert["low"], likert["n"]) == (3.0, None, 1)
    assert "other_system" not in likert
    assert all(set(COLUMNS) <= set(row) for row in said)
    assert all(not isinstance(v, float) or math.isfinite(v) for row in said for v in row.values())


def test_nothing_comes_from_nothing() -> None:
    assert evaluate(None).empty
    assert records(evaluate(None)) == []


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 10**6))
def test_any_small_table_gets_numbers_or_reasons(seed: int) -> None:
    _check_small_table(seed)


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(st.integers(0, 10**6))
def test_any_of_a_hundred_small_tables_gets_numbers_or_reasons(seed: int) -> None:
    _check_small_table(seed)


def _check_small_table(seed: int) -> None:
    """Tables of few raters, items, systems and values, where most statistics are undefined."""
    rng = np.random.default_rng(seed)
    raters, items, systems, values = rng.integers(1, 4, size=4)
    level = str(rng.choice(["ordinal", "interval", "nominal"]))
    rows: dict[tuple[int, int, int], dict[str, object]] = {}
    for _ in range(int(rng.integers(1, 10))):
        key = (int(rng.integers(raters)), int(rng.integers(items)), int(rng.integers(systems)))
        rater, item, system = (f"{name}{k}" for name, k in zip("ris", key, strict=True))
        value = int(rng.integers(values))
        rows[key] = {"rater": rater, "item": item, "system": system, "value": value}
    table = ratings(rows.values(), level=level)
    for row in records(evaluate(table)):
        assert row["estimate"] is not None or row["reason"]
    assert rendered(summary(table))
