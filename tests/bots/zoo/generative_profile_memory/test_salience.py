"""How much a word tells: the specification's test values."""

from __future__ import annotations

import pytest

from bots.zoo.generative_profile_memory.salience import LISTED, alpha, alphas


def test_values_of_the_specification() -> None:
    assert alpha(1) == pytest.approx(0.06750, abs=5e-6)
    assert alpha(100) == pytest.approx(0.10113, abs=5e-6)
    assert alpha(1000) == pytest.approx(0.13467, abs=5e-6)


def test_rare_words_tell_more_and_unlisted_ones_most() -> None:
    the, house, turtle, unlisted = alphas(["the", "house", "turtle", "zzxqj"])
    assert alpha(1) == the < house < turtle < unlisted == alpha(LISTED + 1)
