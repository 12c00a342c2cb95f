"""Differences of systems: against statsmodels and scipy, and what the tests do without any."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from statsmodels.regression.mixed_linear_model import MixedLM

from analysis.metrics.system_difference import system_difference
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
    assert row["df"] == 29
    signs = stats.permutation_test(
        (values["a"] - values["b"],), np.mean, permutation_type="samples", n_resamples=9999,
        rng=np.random.default_rng(3),
    )  # fmt: skip
    assert row["p_permutation"] == pytest.approx(signs.pvalue, abs=0.01)


def test_equal_systems_are_found_different_about_one_time_in_twenty() -> None:
    still = Design(systems=2, conversations=24, each=2, gap=0.0)
    ps = []
    for seed in range(120):
        row = system_difference(scale(still, np.random.default_rng(seed)), seed=seed).iloc[0]
        ps.append((row["p"], row["p_permutation"]))
    found = (np.array(ps, dtype=float) < 0.05).mean(axis=0)
    assert (found < 0.12).all()


def test_equivalence_needs_enough_ratings() -> None:
    same = Design(systems=2, conversations=400, each=2, gap=0.0)
    many = system_difference(scale(same, np.random.default_rng(5))).iloc[0]
    few = Design(systems=2, conversations=10, each=2, gap=0.0)
    some = system_difference(scale(few, np.random.default_rng(5))).iloc[0]
    assert many["margin"] == pytest.approx(0.4)
    assert many["p_equivalent"] < 0.01
    assert some["p_equivalent"] > 0.05


def test_raters_who_saw_one_system_are_permuted_as_wholes() -> None:
    nested = Design(systems=2, conversations=40, each=5, gap=0.0, severity=1.5, raters_of_one=True)
    ps = [
        float(
            system_difference(scale(nested, np.random.default_rng(seed))).iloc[0]["p_permutation"]
        )
        for seed in range(60)
    ]
    assert np.mean(np.array(ps) < 0.05) < 0.17
