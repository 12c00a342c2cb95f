"""Dawid & Skene's EM: against crowd-kit, and on labels of raters whose errors are known."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from crowdkit.aggregation import DawidSkene

from analysis.raters.dawid_skene import dawid_skene
from analysis.raters.nominal_labels import Labels


def simulated(seed: int, *, items: int = 60, raters: int = 8, size: int = 3) -> Labels:
    """Return labels of raters who know more or less, with gaps, named in order of appearance."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(size, size=items)
    knows = rng.uniform(0.2, 0.95, size=raters)
    item, rater = np.nonzero(rng.random((items, raters)) < 0.7)
    guess = rng.integers(size, size=len(item))
    label = np.where(rng.random(len(item)) < knows[rater], truth[item], guess)
    item, rater, label = (pd.factorize(each)[0].astype(np.int64) for each in (item, rater, label))
    return Labels(item, rater, label, size)


def frame(given: Labels) -> pd.DataFrame:
    return pd.DataFrame({"task": given.item, "worker": given.rater, "label": given.label})


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::pandas.errors.Pandas4Warning")
@pytest.mark.parametrize("seed", range(4))
def test_probabilities_are_those_of_crowd_kit(seed: int) -> None:
    given = simulated(seed)
    package = DawidSkene(n_iter=15, tol=-1.0).fit(frame(given))
    assert package.probas_ is not None
    expected = package.probas_.sort_index()[list(range(given.categories))].to_numpy()
    found = dawid_skene(given, most_steps=15)
    assert np.abs(found.truth - expected).max() < 1e-8
    assert found.truth.sum(axis=1) == pytest.approx(1)


def test_errors_of_known_raters_are_recovered() -> None:
    rng = np.random.default_rng(5)
    truth = rng.choice(2, size=3000, p=[0.7, 0.3])
    right = np.array([0.95, 0.9, 0.8, 0.65, 0.5])
    label = np.where(rng.random((3000, 5)) < right, truth[:, None], 1 - truth[:, None])
    item, rater = np.indices(label.shape)
    found = dawid_skene(Labels(item.ravel(), rater.ravel(), label.ravel(), 2))
    assert found.prevalence == pytest.approx([0.7, 0.3], abs=0.03)
    assert found.accuracy == pytest.approx(right, abs=0.03)
    assert (found.truth.argmax(axis=1) == truth).mean() > 0.95


def test_a_rater_without_an_item_of_a_category_has_no_errors_there() -> None:
    item, rater, label = np.array([[0, 0, 1], [0, 1, 1], [0, 0, 1]])
    found = dawid_skene(Labels(item, rater, label, 2))
    assert np.isfinite(found.truth).all()
    assert found.errors[0].sum(axis=1).min() == pytest.approx(0, abs=1e-6)
