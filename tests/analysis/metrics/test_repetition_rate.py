"""Repetition rate."""

from __future__ import annotations

import pytest

from analysis.metrics.repetition_rate import repetition_rate
from tests.analysis.prediction_tables import estimate, said


def test_published_example() -> None:
    assert estimate(repetition_rate(said(("a a b", "a b c"))), "repetition_rate") == 2
    assert estimate(repetition_rate(said(("a a b", "a a b"))), "repetition_rate") == 1


def test_the_mean_of_ratios() -> None:
    found = repetition_rate(said(("a a a", "a"), ("a", "b b")))
    assert estimate(found, "repetition_rate") == pytest.approx((3 + 1 / 2) / 2)
