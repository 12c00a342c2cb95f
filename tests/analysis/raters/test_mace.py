"""MACE: the same steps as crowd-kit's from the same start, and raters who are known to guess."""

from __future__ import annotations

import numpy as np
import pytest
from crowdkit.aggregation import MACE
from scipy import stats

from analysis.raters.mace import Beliefs, fitted, mace
from tests.analysis.raters.test_dawid_skene import frame, simulated


def _their_start(raters: int, size: int) -> Beliefs:
    """Return the start that crowd-kit draws with its random_state 0."""
    knows, strategy = (
        stats.uniform(1, 1.5).rvs(size=(raters, columns), random_state=0) for columns in (2, size)
    )
    knows /= knows.sum(axis=1, keepdims=True)
    strategy /= strategy.sum(axis=1, keepdims=True)
    return Beliefs(knows[:, 1], knows[:, 0], strategy)


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::pandas.errors.Pandas4Warning")
@pytest.mark.parametrize("seed", range(4))
def test_steps_are_those_of_crowd_kit(seed: int) -> None:
    # The package mixes up workers and labels whose order of names is not that of appearance;
    # the simulated ones have one order.
    given = simulated(seed)
    package = MACE(n_restarts=1, n_iter=12).fit(frame(given))
    assert package.probas_ is not None
    expected = package.probas_[list(range(given.categories))].to_numpy()
    found = fitted(given, _their_start(given.raters, given.categories), steps=12)
    assert np.abs(found.truth - expected).max() < 1e-9


def test_guessers_are_told_from_those_who_know() -> None:
    rng = np.random.default_rng(1)
    given = simulated(1, items=300, raters=10)
    truth = rng.integers(3, size=300)
    label = truth[given.item]
    guesser = given.rater >= 7
    label = np.where(guesser, rng.integers(3, size=len(label)), label)
    found = mace(type(given)(given.item, given.rater, label, 3))
    assert found.competence[:7].min() > 0.9
    assert found.competence[7:].max() < 0.2
    assert (found.truth.argmax(axis=1) == truth).mean() > 0.99


def test_the_best_of_several_starts_is_kept() -> None:
    given = simulated(2)
    several, one = mace(given, seed=1), mace(given, seed=1, starts=1)
    assert several.log_likelihood >= one.log_likelihood
    assert several.log_likelihood == mace(given, seed=1).log_likelihood
