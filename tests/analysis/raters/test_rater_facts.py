"""Facts of raters, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.raters import rater_facts
from tests.analysis.examples import ratings


def _form(rater: str, *answers: tuple[int, int, int]) -> list[dict[str, object]]:
    return [
        {"rater": rater, "item": f"{rater}{item}", "question": f"q{place}", "value": value}
        for item, row in enumerate(answers)
        for place, value in enumerate(row)
    ]


def test_straight_lines_and_the_commonest_row() -> None:
    rows = _form("lazy", (3, 3, 3), (3, 3, 3), (1, 2, 3)) + _form("keen", (1, 2, 3), (3, 2, 1))
    found = rater_facts.equal_rows(ratings(rows))
    assert found.loc["lazy"].to_dict() == {
        "sheets": 3,
        "straight": pytest.approx(2 / 3),
        "same_row": pytest.approx(2 / 3),
    }
    assert found.loc["keen"].to_dict() == {"sheets": 2, "straight": 0, "same_row": 0.5}


def test_two_questions_are_no_line() -> None:
    rows: list[dict[str, object]] = [
        {"rater": "r", "item": "i", "question": q, "value": 3} for q in ("a", "b")
    ]
    assert rater_facts.equal_rows(ratings(rows)).empty


def test_severity_is_against_others_on_the_same_system() -> None:
    rows: list[dict[str, object]] = [
        {"rater": rater, "system": system, "value": value}
        for rater, values in {"harsh": (1, 2), "mild": (4, 5), "other": (4, 5)}.items()
        for system, value in zip("ab", values, strict=True)
    ]
    found = rater_facts.scale_use(ratings(rows))
    sd = np.std([1, 2, 4, 5, 4, 5], ddof=1)
    assert found["severity"]["harsh"] == pytest.approx(3 / sd)
    assert found["severity"]["mild"] == pytest.approx(-1.5 / sd)


def test_alone_with_a_system_there_is_no_severity() -> None:
    found = rater_facts.scale_use(ratings([{"value": 1}, {"value": 2, "system": "b"}]))
    assert found["severity"].isna().all()


def test_pace_is_from_seconds_where_there_are_any() -> None:
    rows: list[dict[str, object]] = [
        {"rater": rater, "value": 3, "seconds": seconds}
        for rater, each in {"a": (10, 20, 30), "b": (20, 20, 20), "c": (5, 5, 4)}.items()
        for seconds in each
    ]
    assert rater_facts.pace(ratings(rows)).to_dict() == {"a": 1.0, "b": 1.0, "c": 4.0}


def test_pace_is_between_the_times_of_items_else() -> None:
    rows: list[dict[str, object]] = [
        {"rater": rater, "value": 3, "given_at": f"2026-01-01T00:{minute:02}:00Z"}
        for rater, minutes in {"slow": (0, 20, 40), "quick": (1, 11, 21), "once": (3,)}.items()
        for minute in minutes
    ]
    found = rater_facts.pace(ratings(rows))
    assert found["quick"] / found["slow"] == pytest.approx(2)
    assert "once" not in found.dropna()
    assert rater_facts.pace(ratings([{"value": 1}])).empty


@pytest.mark.parametrize("cells", [("", ""), ("soon", "later"), ("", "2026-01-01T00:00:00Z")])
def test_without_times_there_is_no_pace(cells: tuple[str, str]) -> None:
    # A column that is there and empty is common: a table that somebody filled in by hand.
    rows: list[dict[str, object]] = [{"rater": "r", "value": 3, "given_at": at} for at in cells]
    assert rater_facts.pace(ratings(rows)).dropna().empty


def test_a_rater_is_compared_with_the_others_only() -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(1, 6, size=40)
    rows: list[dict[str, object]] = [
        {"rater": rater, "item": f"i{k}", "value": int(value)}
        for rater in ("a", "b", "c", "turned")
        for k, value in enumerate(6 - truth if rater == "turned" else truth)
    ]
    found = rater_facts.with_others(ratings(rows))
    assert found["correlation"]["turned"] == pytest.approx(-1)
    assert found["correlation"]["a"] > 0.99
    assert (found["shared"] == 40).all()
    assert found["kappa"].isna().all()


def test_kappa_with_others_by_hand() -> None:
    said = {"a": (1, 1, 0, 0), "b": (1, 1, 0, 0), "c": (0, 0, 1, 1)}
    rows: list[dict[str, object]] = [
        {"rater": rater, "item": f"i{k}", "value": value}
        for rater, values in said.items()
        for k, value in enumerate(values)
    ]
    found = rater_facts.with_others(ratings(rows, level="nominal"))["kappa"]
    # Half of the others agree with a on each item, none with c; half of all labels are yes.
    assert found.to_dict() == {"a": 0.0, "b": 0.0, "c": -1.0}
