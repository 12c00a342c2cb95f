"""Cohen's kappa with linear weights, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.metrics.cohen_kappa_linear import cohen_kappa_linear
from tests.analysis.examples import by_raters

RATERS = [[1, 1, 2, 3, 3, 2], [1, 2, 2, 3, 1, 3]]


def test_two_raters_by_hand() -> None:
    first, second = np.array(RATERS, dtype=float)
    apart = np.abs(first - second)
    chance = np.abs(first[:, None] - second[None, :])
    row = cohen_kappa_linear(by_raters(RATERS, "ordinal")).iloc[0]
    assert row["estimate"] == pytest.approx(1 - apart.mean() / chance.mean())
    assert row["low"] < row["estimate"] < row["high"]
    assert row["n"] == 6


def test_labels_are_left_out() -> None:
    assert cohen_kappa_linear(by_raters(RATERS, "nominal")).empty
