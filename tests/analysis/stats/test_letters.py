"""Letters of groups: shared exactly by pairs that are not told apart."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from analysis.stats.letters import letters

ORDER = ["a", "b", "c", "d", "e"]


@pytest.mark.parametrize("seed", range(12))
def test_a_letter_is_shared_exactly_where_pairs_are_not_told_apart(seed: int) -> None:
    chance = np.random.default_rng(seed)
    pairs = [frozenset(pair) for pair in combinations(ORDER, 2)]
    apart = {pair for pair in pairs if chance.random() < 0.4}
    found = letters(ORDER, apart)
    for one, other in combinations(ORDER, 2):
        shared = bool(set(found[one]) & set(found[other]))
        assert shared == (frozenset((one, other)) not in apart)


def test_the_example_of_neighbors() -> None:
    """Only the ends are told apart: the middle shares a letter with each."""
    assert letters(["x", "y", "z"], {frozenset(("x", "z"))}) == {"x": "a", "y": "ab", "z": "b"}
