"""Permutations within raters: as every permutation there is says, by lists and by sorted keys."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest

from analysis.scores import differences
from analysis.stats.intervals import Floats


def _exact(centered: Floats, one: np.ndarray, rater: np.ndarray) -> float:
    """Return the share of all permutations within raters that are as extreme."""
    choices = []
    for each in np.unique(rater):
        values = centered[rater == each]
        k = int(one[rater == each].sum())
        choices.append([sum(values[list(some)]) for some in combinations(range(len(values)), k)])
    drawn = np.array([sum(some) for some in product(*choices)])
    return float(np.mean(np.abs(drawn) >= abs(centered[one].sum()) - 1e-9))


def _design(sizes: list[tuple[int, int]], seed: int) -> tuple[Floats, np.ndarray, np.ndarray]:
    """Return centered values, which are of the one system, and raters of these sizes (n, k)."""
    chance = np.random.default_rng(seed)
    rater = np.repeat(np.arange(len(sizes)), [n for n, _ in sizes])
    one = np.concatenate([np.arange(n) < k for n, k in sizes])
    value = chance.integers(1, 6, len(rater)) + 0.4 * one
    means = np.bincount(rater, value) / np.bincount(rater)
    return value - means[rater], one, rater


@pytest.mark.parametrize("most", [differences.MOST_SUBSETS, 0], ids=["listed", "sorted"])
@pytest.mark.parametrize(
    "sizes",
    [[(2, 1)] * 9, [(3, 1), (2, 1), (4, 2), (4, 3), (5, 2)], [(12, 6)], [(2, 2), (6, 2), (2, 0)]],
)
def test_p_is_the_share_of_all_permutations(
    sizes: list[tuple[int, int]], most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """4,000 draws are within 4 standard errors of all there are."""
    monkeypatch.setattr(differences, "MOST_SUBSETS", most)
    centered, one, rater = _design(sizes, seed=1)
    p = differences._p(centered, one, rater, seed=2)
    assert p is not None
    exact = _exact(centered, one, rater)
    assert 0.01 < exact < 0.99
    assert abs(p - exact) < 4 * np.sqrt(exact * (1 - exact) / differences.PERMUTATIONS) + 3e-4


def test_raters_who_saw_one_system_only_change_nothing() -> None:
    centered, one, rater = _design([(3, 1), (4, 2)], seed=3)
    alone = np.array([-1.0, 1.0])
    wider = np.concatenate([centered, alone])
    found = differences._p(
        wider, np.concatenate([one, [True, True]]), np.concatenate([rater, [2, 2]]), seed=2
    )
    assert found == differences._p(centered, one, rater, seed=2)
