"""Systems shown together: side by side, with ties and an advantage of the first, or ranked."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.random import Generator

from analysis.intervals import Floats
from analysis.simulated import Design, table
from analysis.tables import RatingTable

FIRST = 0.2
TIED = 0.4


def side_by_side(design: Design, chance: Generator) -> RatingTable:
    """Draw comparisons of two: `conversations` of each system, `each` of a rater."""
    pairs = np.array(list(combinations(range(design.systems), 2)))
    acts = design.systems * design.conversations // 2
    rounds = -(-acts // len(pairs))
    order = np.concatenate([chance.permutation(len(pairs)) for _ in range(rounds)])[:acts]
    shown = np.where(chance.random(acts)[:, None] < 0.5, pairs[order], pairs[order][:, ::-1])
    rater = np.arange(acts) // design.each
    liking = _liking(design, chance, rater)
    first, second = (liking[rater, shown[:, k]] for k in (0, 1))
    # A difference with logistic noise, a tie where it is small (Rao and Kupper 1967).
    apart = first + FIRST - second + chance.logistic(0, 1, acts)
    value = np.where(np.abs(apart) < TIED, 1.0, np.where(apart > 0, 1.0, 2.0))
    other = np.where(np.abs(apart) < TIED, 1.0, 3.0 - value)
    return _acts(design, chance, shown, rater, np.column_stack([value, other]))


def ranked(design: Design, chance: Generator) -> RatingTable:
    """Draw rankings of all systems: `conversations` of them, `each` of a rater."""
    acts = design.conversations
    rater = np.arange(acts) // design.each
    shown = np.argsort(chance.random((acts, design.systems)), axis=1)
    felt = _liking(design, chance, rater)[rater] + chance.gumbel(0, 1, (acts, design.systems))
    ranks = (-felt).argsort(axis=1).argsort(axis=1).astype(np.float64) + 1
    return _acts(design, chance, shown, rater, np.take_along_axis(ranks, shown, axis=1))


def _liking(design: Design, chance: Generator, rater: np.ndarray) -> Floats:
    size = (int(rater.max()) + 1, design.systems)
    return np.asarray(design.scores + chance.normal(0, design.taste, size), dtype=float)


def _acts(
    design: Design, chance: Generator, shown: np.ndarray, rater: np.ndarray, ranks: Floats
) -> RatingTable:
    acts, size = shown.shape
    who = {
        "system": shown.ravel(),
        "rater": np.repeat(rater, size),
        "conversation": np.repeat(np.arange(acts), size),
        "item": np.repeat(np.arange(acts), size),
        "place": np.tile(np.arange(size), acts),
    }
    return table(who, ranks.ravel(), design, chance, level="rank")
