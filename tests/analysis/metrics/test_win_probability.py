"""Who beats whom, from the published data."""

from __future__ import annotations

import json

import pytest

from analysis import rating_table
from analysis.metrics.win_probability import win_probability
from tests.analysis.examples import cell, kulikov, shared, triples

EXAMPLE = [(0, 0, 3), (0, 1, 2), (0, 2, 2), (1, 1, 1), (1, 2, 0), (0, 1, 3), (1, 2, 1)]


def test_the_worked_example() -> None:
    found = win_probability(triples(EXAMPLE, scale_low=0, scale_high=3))
    wins = found.set_index(["system", "other_system"])["estimate"]
    assert wins["m0", "m1"] == pytest.approx(0.9675, abs=0.002)
    assert wins["m0", "m1"] + wins["m1", "m0"] == pytest.approx(1)


def test_the_published_data() -> None:
    wins = win_probability(rating_table(kulikov())).set_index(["system", "other_system"])
    expected = json.loads(shared("calibration_golden", "kulikov_expected.json").read_text())
    found = cell(wins, ("model14", "model6"), "estimate")
    assert found == pytest.approx(expected["p_model14_over_model6"], abs=0.005)
    assert len(wins) == 30 * 29


def test_alike_systems_are_even() -> None:
    given = [(0, 0, 2), (0, 1, 3), (1, 0, 2), (1, 1, 3)]
    found = win_probability(triples(given, scale_low=1, scale_high=4))
    assert list(found["estimate"]) == pytest.approx([0.5, 0.5], abs=0.01)


def test_one_system_beats_nobody() -> None:
    assert win_probability(triples([(0, 0, 2), (0, 1, 3)])).empty
