"""AC2 with the weights of a question's level."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.metrics.gwet_ac2 import gwet_ac2
from tests.analysis.examples import by_raters, worked


def test_weights_follow_the_level() -> None:
    data = worked("krippendorff2011_C")["data"]
    for level, weights, expected in (
        # irrCAC 0.4.4 on the same data.
        ("ordinal", "ordinal", 0.89894),
        ("interval", "quadratic", 0.91400),
    ):
        row = gwet_ac2(by_raters(data, level)).iloc[0]
        assert row["weights"] == weights
        assert row["estimate"] == pytest.approx(expected, abs=1e-5)
        assert row["low"] < row["estimate"] <= row["high"]


def test_two_categories_need_no_weights() -> None:
    row = gwet_ac2(by_raters([[1, 2, 1, 1], [1, 2, 2, 1]], "ordinal")).iloc[0]
    # Agreement 3/4; shares 5/8 and 3/8: chance is their product twice.
    chance = 2 * (5 / 8) * (3 / 8)
    assert row["estimate"] == pytest.approx((0.75 - chance) / (1 - chance))


def test_too_many_values_are_told() -> None:
    table = np.arange(2.0 * 1100).reshape(2, -1)
    row = gwet_ac2(by_raters(table.tolist(), "interval")).iloc[0]
    assert "2200 different values" in row["reason"]


def test_labels_are_left_to_ac1() -> None:
    assert gwet_ac2(by_raters([[1, 2], [1, 2]], "nominal")).empty
