"""NASL and length."""

from __future__ import annotations

import pytest

from analysis.metrics.nasl import nasl
from tests.analysis.prediction_tables import estimate, only, said


def test_the_reference_against_itself_has_1() -> None:
    found = nasl(said(("I like tea.", "I like tea."), ("No", "No")))
    row = only(found, "nasl")
    assert row["estimate"] == pytest.approx(1)
    assert row["reason"] == "all examples are equal: no variance, so no interval"


def test_means_are_compared_not_examples() -> None:
    found = nasl(said(("a b c d", "a b"), ("a", "a b c d")))
    assert estimate(found, "nasl") == pytest.approx(5 / 6)
    assert estimate(found, "length") == 2.5


def test_length_needs_no_reference() -> None:
    assert list(nasl(said(("a b", None)))["metric"]) == ["length"]
