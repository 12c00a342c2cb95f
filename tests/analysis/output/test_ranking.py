"""The order of systems, and which scores it goes by."""

from __future__ import annotations

import pandas as pd

from analysis import evaluate
from analysis.output.ranking import rankings
from tests.analysis.examples import cell, ratings, simulated, triples


def test_best_first_with_the_probability_of_each_step() -> None:
    (ranking,) = rankings(evaluate(simulated()))
    assert list(ranking.frame["system"]) == ["s3", "s2", "s1", "s0"]
    assert ranking.calibrated == "calibrated_score"
    steps = ranking.frame["beats next"]
    assert (steps[:3] > 0.5).all()
    assert steps.isna()[3]
    assert ranking.finding.startswith("Q: s3 is first with")
    assert "1 to 5, declared" in ranking.note


def test_the_matrix_has_the_order_of_the_ranking() -> None:
    results = evaluate(simulated())
    (ranking,) = rankings(results)
    matrix = ranking.matrix(results).set_index("system")
    assert list(matrix.columns) == list(matrix.index)
    assert matrix["s3"].isna().tolist() == [True, False, False, False]
    assert cell(matrix, "s3", "s0") > 0.99


def test_a_wide_scale_goes_by_learned_variances() -> None:
    wide = simulated().assign(scale_low=0.0, scale_high=100.0)
    wide["value"] = wide["value"] * 20.0
    (ranking,) = rankings(evaluate(wide))
    assert ranking.calibrated == "calibrated_score_learned"
    assert ranking.pairs == "win_probability_learned"
    assert list(ranking.frame["system"]) == ["s3", "s2", "s1", "s0"]


def test_one_system_has_a_place_and_no_rival() -> None:
    (ranking,) = rankings(evaluate(triples([(0, 0, 2), (0, 1, 3)])))
    assert ranking.finding == "Q: m0 has 2.50"


def test_protocols_that_are_pooled_are_told_apart() -> None:
    both = pd.concat([simulated(), simulated(1).assign(protocol="other")], ignore_index=True)
    found = rankings(evaluate(both.assign(answer=both.index.astype(str))))
    assert [each.key for each in found] == ["other-q", "p-q"]
    assert found[0].finding.startswith("Other, q: s3 is first")


def test_the_chart_has_both_scores_of_each_system() -> None:
    (ranking,) = rankings(evaluate(simulated()))
    assert ranking.chart.domain == (1.0, 5.0)
    assert [(row["system"], row["series"]) for row in ranking.chart.rows[:3]] == [
        ("s3", "calibrated"),
        ("s3", "mean"),
        ("s2", "calibrated"),
    ]


def test_without_calibration_means_decide() -> None:
    (ranking,) = rankings(evaluate(ratings([{"value": 3}, {"value": 3, "system": "t"}])))
    assert ranking.calibrated is None
    assert list(ranking.frame["system"]) == ["s", "t"]
