"""1-of-100 accuracy."""

from __future__ import annotations

from random import Random

import pandas as pd
import pytest

from analysis import prediction_table
from analysis.metrics.one_of_100 import one_of_100
from tests.analysis.prediction_tables import only, predictions, ranked


def test_counts_only_lists_of_100() -> None:
    table = ranked(1, 1, 2, 3, n=100)
    found = only(one_of_100(table), "one_of_100")
    assert (found["estimate"], found["n"], found["chance"]) == (0.5, 4, 0.01)
    assert one_of_100(ranked(1, 1, n=20)).empty


def test_the_interval_is_over_batches() -> None:
    table = pd.DataFrame(ranked(1, 1, 2, 2, 1, 2, n=100)).assign(batch=list("aabbcc"))
    found = only(one_of_100(prediction_table(table)), "one_of_100")
    assert (found["estimate"], found["batches"]) == (0.5, 3)
    assert found["high"] - found["estimate"] == pytest.approx(4.302653 * 0.5 / 3**0.5)


def test_random_scores_are_right_about_once_in_a_hundred() -> None:
    chance = Random(1)
    offered = [f"reply {k}" for k in range(100)]
    rows = [
        {"gold": text, "candidates": offered, "scores": [chance.random() for _ in offered]}
        for _ in range(20)
        for text in offered
    ]
    found = only(one_of_100(predictions(rows)), "one_of_100")
    assert found["low"] < 0.01 < found["high"]
    assert found["estimate"] == pytest.approx(0.01, abs=0.006)
