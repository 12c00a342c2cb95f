"""Rank scores: sums of N/2, the printed standard error by hand, ties, and L2E's mirror image."""

from __future__ import annotations

import math

import pytest

from analysis.metrics.rank_score import rank_score
from analysis.metrics.win_rate import win_rate
from tests.analysis.preferring import Act, preferring

ACTS: list[Act] = [
    ("1", "ann", "abcd", (1, 2, 3, 4)),
    ("1", "bob", "abcd", (1, 3, 2, 4)),
    ("1", "cyd", "abcd", (2, 1, 3, 4)),
    ("2", "ann", "abcd", (4, 3, 2, 1)),
    ("2", "bob", "abcd", (4, 3, 1, 2)),
    ("2", "cyd", "abcd", (4, 3, 2, 1)),
]


def _found(acts: list[Act], metric: str = "rank_score") -> dict[str, dict[str, object]]:
    rows = rank_score(preferring(acts)).to_dict("records")
    return {str(row["system"]): row for row in rows if row["metric"] == metric}


def test_scores_by_hand_sum_to_half_the_number_of_systems() -> None:
    found = _found(ACTS)
    scores = {name: row["estimate"] for name, row in found.items()}
    assert scores["a"] == pytest.approx((3 + 3 + 2 + 0 + 0 + 0) / 6 / 3)
    assert scores["d"] == pytest.approx((0 + 0 + 0 + 3 + 2 + 3) / 6 / 3)
    assert sum(map(float, scores.values())) == pytest.approx(4 / 2)  # type: ignore[arg-type]
    assert {row["n"] for row in found.values()} == {6}


def test_the_error_is_the_formulas() -> None:
    """Of a: judges say 1, 1, 2/3 of the first sample (variance 1/27) and agree on the second."""
    assert _found(ACTS)["a"]["se"] == pytest.approx(math.sqrt(1 / 27) / 2)


def test_three_judges_of_200_samples_cannot_exceed_the_largest_error() -> None:
    """Most that the formula can give: one of three judges is at the other end, always: .0408."""
    acts: list[Act] = [
        (str(item), judge, "ab", (1, 2) if judge == "ann" else (2, 1))
        for item in range(200)
        for judge in ("ann", "bob", "cyd")
    ]
    assert _found(acts)["a"]["se"] == pytest.approx(math.sqrt(200 / 3) / 200)
    assert _found(acts)["a"]["se"] == pytest.approx(0.0408, abs=5e-5)


def test_an_explanations_rank_is_0_for_the_best() -> None:
    best = _found([("1", "ann", "abc", (1, 2, 3)), ("1", "bob", "abc", (1, 3, 2))])
    ranks = _found([("1", "ann", "abc", (1, 2, 3)), ("1", "bob", "abc", (1, 3, 2))],
                   "explanation_rank")  # fmt: skip
    assert [ranks[name]["estimate"] for name in "abc"] == pytest.approx([0, 0.75, 0.75])
    assert [best[name]["estimate"] for name in "abc"] == pytest.approx([1, 0.25, 0.25])
    assert ranks["b"]["low"] == 1 - float(str(best["b"]["high"]))


def test_ties_share_their_places_and_it_is_the_rate_of_wins() -> None:
    tied: list[Act] = [*ACTS, ("3", "ann", "abcd", (1, 1, 3, 4))]
    found = _found(tied)
    assert sum(float(str(row["estimate"])) for row in found.values()) == pytest.approx(2)
    wins = win_rate(preferring(tied)).set_index("system")["estimate"].to_dict()
    assert {name: row["estimate"] for name, row in found.items()} == pytest.approx(wins)


def test_one_judge_has_neither_error_nor_interval() -> None:
    row = _found([("1", "ann", "ab", (1, 2)), ("2", "ann", "ab", (1, 2))])["a"]
    assert math.isnan(float(str(row["se"])))
    assert math.isnan(float(str(row["low"])))
    assert row["reason"] == "one rater only: no interval over raters"
