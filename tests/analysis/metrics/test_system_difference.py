"""Differences of systems: against statsmodels and scipy, and what the tests do without any."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from statsmodels.regression.mixed_linear_model import MixedLM

from analysis.metrics.system_difference import system_difference
from analysis.metrics.system_score import system_score
from analysis.scores.differences import Difference
from analysis.scores.question_ratings import questions
from analysis.simulation.campaigns import Design, scale
from tests.analysis.examples import ratings

DESIGN = Design(systems=3, conversations=40, each=3, gap=0.5)


def test_it_is_the_difference_of_a_mixed_model() -> None:
    table = scale(DESIGN, np.random.default_rng(1))
    asked = next(questions(table, "ordinal"))
    design = np.column_stack([asked.rows["system"] == f"system {k}" for k in range(3)])
    other = MixedLM(asked.values, design.astype(float), groups=asked.rows["rater"]).fit()
    for row in system_difference(table).to_dict("records"):
        a, b = int(row["system"][-1]), int(row["other_system"][-1])
        covariance = np.asarray(other.cov_params())[:3, :3]
        se = np.sqrt(covariance[a, a] + covariance[b, b] - 2 * covariance[a, b])
        assert row["estimate"] == pytest.approx(other.params[a] - other.params[b], abs=1e-4)
        assert row["se"] == pytest.approx(se, rel=1e-3)


def test_one_rating_of_each_by_each_is_the_paired_t_test() -> None:
    chance = np.random.default_rng(2)
    bias = chance.normal(0, 1, 30)
    values = {"a": bias + chance.normal(0.3, 0.5, 30), "b": bias + chance.normal(0, 0.5, 30)}
    rows = [
        {"system": system, "rater": f"r{k}", "value": float(value), "item": f"{system}{k}"}
        for system, given in values.items()
        for k, value in enumerate(given)
    ]
    row = system_difference(ratings(rows, level="interval")).iloc[0]
    paired = stats.ttest_rel(values["a"], values["b"])
    assert row["p"] == pytest.approx(paired.pvalue, rel=1e-6)
    assert row["df"] == pytest.approx(29)


@pytest.mark.parametrize("estimate", [-90.0, 90.0])
def test_nothing_is_certain_however_large_the_difference(estimate: float) -> None:
    found = Difference("a", "b", 300, estimate, 0.5, 300.0, 1.0, 100.0)
    assert 0 < found.p < 1e-9
    assert 0 < found.above < 1
    assert round(found.above) == (estimate > 0)


def test_equal_systems_are_found_different_about_one_time_in_twenty() -> None:
    still = Design(systems=2, conversations=24, each=2, gap=0.0)
    ps = []
    for seed in range(60):
        row = system_difference(scale(still, np.random.default_rng(seed))).iloc[0]
        ps.append(float(row["p"]))
    assert (np.array(ps) < 0.05).mean() < 0.14


def test_equivalence_needs_enough_ratings() -> None:
    same = Design(systems=2, conversations=400, each=2, gap=0.0)
    many = system_difference(scale(same, np.random.default_rng(5))).iloc[0]
    few = Design(systems=2, conversations=10, each=2, gap=0.0)
    some = system_difference(scale(few, np.random.default_rng(5))).iloc[0]
    assert many["margin"] == pytest.approx(0.4)
    assert many["p_equivalent"] < 0.01
    assert some["p_equivalent"] > 0.05


def test_the_detectable_difference_is_found_four_times_in_five() -> None:
    """At the difference that the first campaigns call detectable, 80 % of new ones find it."""
    design = Design(systems=2, conversations=60, each=2, gap=0.0, noise=0.6, severity=0.4)
    detectable = [
        float(system_difference(scale(design, np.random.default_rng(seed)))["detectable"].iloc[0])
        for seed in range(20)
    ]
    apart = Design(systems=2, conversations=60, each=2, gap=float(np.mean(detectable)),
                   noise=0.6, severity=0.4)  # fmt: skip
    found = [
        float(system_difference(scale(apart, np.random.default_rng(seed)))["p"].iloc[0]) < 0.05
        for seed in range(100, 180)
    ]
    assert 0.68 < np.mean(found) < 0.92


def test_a_control_is_in_no_pair() -> None:
    table = scale(DESIGN, np.random.default_rng(1))
    found = system_difference(table, control="system 1")
    assert found[["system", "other_system"]].to_numpy().tolist() == [["system 2", "system 0"]]


@pytest.mark.parametrize(("yes", "spread"), [(10, 10 / 19), (18, 36 / 190), (19, 19 / 190)])
def test_shares_near_an_end_have_differences_with_half_a_yes_and_half_a_no_more(
    yes: int, spread: float
) -> None:
    """`spread` is twice the variance of an answer, as both systems' answers have it."""
    rows = [
        {"system": system, "rater": f"{system}{k}", "value": float(k < yes)}
        for system in "ab"
        for k in range(20)
    ]
    table = ratings(rows, level="nominal")
    share = (yes + 0.5) / 21
    least = share * (1 - share)
    assert (least > spread / 2) == (yes > 10)
    (difference,) = system_difference(table)["se"]
    assert difference == pytest.approx(np.sqrt(2 * max(spread / 2, least) / 20))
    assert system_score(table)["se"].tolist() == pytest.approx([np.sqrt(spread / 2 / 20)] * 2)
