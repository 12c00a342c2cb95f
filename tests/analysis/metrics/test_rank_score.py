"""Normalized rank scores by hand, their sum, and the error that the formula can have at most."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.metrics.rank_score import rank_score
from tests.analysis.examples import cell
from tests.analysis.preferring import Act, preferring


def _ranked(orders: dict[tuple[str, str], str]) -> list[Act]:
    """Return acts from systems by (item, judge), best first."""
    return [
        (item, judge, sorted(order), [1 + order.index(s) for s in sorted(order)])
        for (item, judge), order in orders.items()
    ]


def test_two_samples_of_two_judges_by_hand() -> None:
    orders = {("x", "j"): "abc", ("x", "k"): "acb", ("y", "j"): "bac", ("y", "k"): "abc"}
    found = rank_score(preferring(_ranked(orders))).set_index("system")
    assert cell(found, "a", "estimate") == pytest.approx((1 + (0.5 + 1) / 2) / 2)
    # Samples' variances between judges: 0, and .125; their sum over n² is .03125.
    assert cell(found, "a", "se") == pytest.approx(np.sqrt(0.125) / 2)
    assert found["n"].tolist() == [2, 2, 2]
    assert found["judgments"].tolist() == [4, 4, 4]


def test_scores_of_four_models_add_up_to_two() -> None:
    rng = np.random.default_rng(0)
    orders = {
        (f"i{k}", f"j{j}"): "".join(rng.permutation(list("abcd")))
        for k in range(30)
        for j in range(3)
    }
    found = rank_score(preferring(_ranked(orders)))
    assert found["estimate"].sum() == pytest.approx(2.0)
    assert found["estimate"].between(0.35, 0.65).all()


def test_the_formula_exceeds_041_for_no_scores_of_three_judges_and_200_samples() -> None:
    orders = {(f"i{k}", f"j{j}"): "ab" if j < 2 else "ba" for k in range(200) for j in range(3)}
    found = rank_score(preferring(_ranked(orders)))
    assert found["se"].tolist() == pytest.approx([0.0408, 0.0408], abs=5e-5)


def test_a_tie_shares_its_places_and_one_judge_has_no_error() -> None:
    found = rank_score(preferring([("x", "j", ["a", "b", "c"], [1, 1, 3])])).set_index("system")
    assert [cell(found, s, "estimate") for s in "abc"] == [0.75, 0.75, 0.0]
    assert found["se"].isna().all()
    assert set(found["reason"]) == {"one rater only: no interval over raters"}
