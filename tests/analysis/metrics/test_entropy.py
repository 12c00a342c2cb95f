"""ent-n."""

from __future__ import annotations

import math

import pytest

from analysis.metrics.entropy import entropy
from tests.analysis.prediction_tables import estimate, only, said


def test_published_example() -> None:
    found = entropy(said(("a b a", None), ("a b c", None)))
    assert estimate(found, "ent_2") == pytest.approx(1.0397, abs=5e-5)


def test_one_sentence_over_and_over_has_none() -> None:
    found = entropy(said(*[("we like tea a lot", None)] * 5))
    assert estimate(found, "ent_4") == pytest.approx(math.log(2)), "two different 4-grams"
    assert only(entropy(said(("a", None))), "ent_4")["reason"] == "no response is that long"
