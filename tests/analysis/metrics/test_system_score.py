"""Headline scores: raw means where all raters saw all, intervals on the scale, yes and no."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.metrics.likert import likert
from analysis.metrics.system_score import system_score
from analysis.simulation.campaigns import Design, labels, scale
from tests.analysis.examples import ratings, simulated, triples

PANEL = Design(systems=4, conversations=20, each=4, gap=0.3)


@pytest.mark.parametrize("seed", range(3))
def test_a_balanced_headline_is_the_raw_mean(seed: int) -> None:
    table = scale(PANEL, np.random.default_rng(seed))
    found, raw = system_score(table), likert(table)
    assert found["estimate"].tolist() == pytest.approx(raw["estimate"].tolist(), abs=1e-9)


def test_intervals_stay_on_the_scale_even_at_its_end() -> None:
    """One system always gets the best answer: its score is the end, and its interval ends there."""
    given = [(k % 2, k // 2, 5 if k % 2 else 1 + k % 5) for k in range(40)]
    found = system_score(triples(given, scale_low=1, scale_high=5)).set_index("system")
    assert (found["low"] >= 1).all()
    assert (found["high"] <= 5).all()
    assert found["high"]["m1"] == pytest.approx(5)
    assert found["low"]["m1"] < 5


def test_yes_and_no_are_shares_with_a_spread_of_their_own() -> None:
    table = labels(Design(conversations=40, base=1.5, gap=1.0), np.random.default_rng(1))
    found = system_score(table)
    assert ((found["low"] > 0) & (found["high"] < 1)).all()
    assert (found["high"] - found["low"]).iloc[-1] < (found["high"] - found["low"]).iloc[0]
    assert found["estimate"].tolist() == pytest.approx(found["raw"].tolist(), abs=0.05)


def test_an_effect_is_in_the_model_where_the_table_tells_it_apart() -> None:
    once = system_score(simulated())
    assert {"rater_sd", "residual_sd"} <= set(once.columns)
    assert not {"item_sd", "rater_by_system_sd"} & set(once.columns)
    rows = [
        {"system": f"s{i % 2}", "item": f"i{i}", "rater": f"r{j}", "value": 1 + (i * j + i) % 5}
        for i in range(12)
        for j in range(4)
    ]
    static = system_score(ratings(rows))
    assert {"rater_sd", "item_sd", "rater_by_system_sd"} <= set(static.columns)


def test_one_rater_in_all_has_means_without_intervals() -> None:
    rows = [{"system": f"s{k % 2}", "rater": "r", "value": 1 + k % 5} for k in range(20)]
    found = system_score(ratings(rows))
    assert found["estimate"].tolist() == [3.0, 3.0]
    assert found["low"].isna().all()
    assert found["reason"].str.startswith("all ratings are one rater's").all()


def test_one_item_per_system_has_no_interval() -> None:
    rows = [
        {"system": f"s{k % 2}", "item": f"i{k % 2}", "rater": f"r{k // 2}", "value": 1 + k % 4}
        for k in range(40)
    ]
    found = system_score(ratings(rows))
    assert found["reason"].str.startswith("all ratings of a system are of one item").all()
