"""The slope over places: against statsmodels' mixed model, and where there is none to be had."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from statsmodels.regression.mixed_linear_model import MixedLM

from analysis import rating_table
from analysis.metrics.order_effect import order_effect
from analysis.scores.question_ratings import questions
from analysis.scores.severity import fit, sums


def shown(slope: float, seed: int = 0) -> pd.DataFrame:
    chance = np.random.default_rng(seed)
    rows = []
    for rater in range(40):
        bias = chance.normal(0, 0.7)
        for place, system in enumerate(chance.permutation(5)):
            value = 3 + 0.4 * system + bias + slope * place + chance.normal(0, 0.5)
            rows.append((f"r{rater}", f"s{system}", value, place))
    frame = pd.DataFrame(rows, columns=["rater", "system", "value", "place"])
    return frame.assign(
        answer=[str(k) for k in range(len(frame))],
        campaign="c",
        protocol="p",
        question="q",
        level="interval",
        item=[str(k) for k in range(len(frame))],
    )


def test_it_is_the_slope_of_a_mixed_model() -> None:
    frame = shown(-0.2)
    row = order_effect(rating_table(frame)).iloc[0]
    design = pd.get_dummies(frame["system"]).astype(float).assign(place=frame["place"])
    other = MixedLM(frame["value"], design, groups=frame["rater"]).fit()
    assert row["estimate"] == pytest.approx(other.params["place"], abs=0.003)
    assert row["se"] == pytest.approx(other.bse["place"], rel=0.02)
    assert row["low"] < -0.2 < row["high"]
    assert row["p"] < 1e-6


def test_it_is_generalized_least_squares_with_the_matrix_written_out() -> None:
    frame = shown(0.1, 3).sample(frac=0.7, random_state=1, ignore_index=True)
    row = order_effect(rating_table(frame)).iloc[0]
    (question,) = questions(rating_table(frame), "interval")
    place = frame["place"].to_numpy(dtype=float) - frame["place"].mean()
    raters = pd.get_dummies(frame["rater"]).to_numpy(dtype=float)
    design = np.column_stack([pd.get_dummies(frame["system"]).to_numpy(dtype=float), place])
    slope, se = 0.0, 0.0
    for _ in range(3):
        left = frame["value"] - slope * place
        found = fit(sums(replace(question, rows=question.rows.assign(value=left))))
        assert found is not None
        covariance = found.residual**2 * np.eye(len(frame)) + found.severity**2 * raters @ raters.T
        weighted = np.linalg.solve(covariance, design)
        errors = np.linalg.inv(design.T @ weighted)
        slope = float((errors @ weighted.T @ frame["value"].to_numpy())[-1])
        se = float(np.sqrt(errors[-1, -1]))
    assert row["estimate"] == pytest.approx(slope, rel=1e-7)
    assert row["se"] == pytest.approx(se, rel=1e-7)


def test_without_drift_the_interval_holds_0() -> None:
    held = [
        row["low"] < 0 < row["high"]
        for seed in range(20)
        for row in [order_effect(rating_table(shown(0.0, seed))).iloc[0]]
    ]
    assert sum(held) >= 17


def test_one_place_has_a_reason() -> None:
    row = order_effect(rating_table(shown(0.0).assign(place=0))).iloc[0]
    assert np.isnan(row["estimate"])
    assert "one place" in row["reason"]


def test_without_places_there_is_no_order() -> None:
    row = order_effect(rating_table(shown(0.0).assign(place=""))).iloc[0]
    assert np.isnan(row["estimate"])
    assert row["reason"] == "some ratings have no place, so their order is unknown"
