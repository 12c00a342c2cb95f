"""Systems shown together: side by side, with ties and an advantage of the first, or ranked."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
from numpy.random import Generator

from analysis.comparisons import bradley_terry
from analysis.comparisons.preference_cycles import circles
from analysis.comparisons.preferences import compared
from analysis.metrics.bradley_terry import errors_of, first_shown
from analysis.scores.question_ratings import questions
from analysis.simulation.campaigns import Design, table
from analysis.simulation.panels import OF_A_RATER, several
from analysis.stats.intervals import Floats
from analysis.tables.schema import RatingTable
from analysis.tables.tidy import ALL, tidy

FIRST = 0.2
TIED = 0.4
JUDGES = 3


def side_by_side(design: Design, chance: Generator) -> RatingTable:
    """Draw comparisons of two: `conversations` of each system, `each` of a rater."""
    return _sides(design, chance, FIRST)


def evenly(design: Design, chance: Generator) -> RatingTable:
    """Draw the same without any advantage of what is shown first."""
    return _sides(design, chance, 0.0)


def _sides(design: Design, chance: Generator, advantage: float) -> RatingTable:
    pairs = np.array(list(combinations(range(design.systems), 2)))
    acts = design.systems * design.conversations // 2
    rounds = -(-acts // len(pairs))
    order = np.concatenate([chance.permutation(len(pairs)) for _ in range(rounds)])[:acts]
    shown = np.where(chance.random(acts)[:, None] < 0.5, pairs[order], pairs[order][:, ::-1])
    rater = np.arange(acts) // design.each
    liking = _liking(design, chance, rater)
    first, second = (liking[rater, shown[:, k]] for k in (0, 1))
    # A difference with logistic noise, a tie where it is small (Rao and Kupper 1967).
    apart = first + advantage - second + chance.logistic(0, 1, acts)
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


def judged(design: Design, chance: Generator) -> RatingTable:
    """Draw rankings of all systems' replies to `conversations` samples by three of a pool each."""
    samples, size = design.conversations, design.systems
    pool = max(2 * JUDGES, samples * JUDGES // OF_A_RATER)
    rater = several(chance, samples, JUDGES, pool).ravel()
    sample = np.repeat(np.arange(samples), JUDGES)
    acts = len(sample)
    shown = np.argsort(chance.random((acts, size)), axis=1)
    liking = design.scores + chance.normal(0, design.taste, (pool, size))
    felt = liking[rater] + chance.normal(0, design.conversation_sd, (samples, size))[sample]
    felt = felt + chance.gumbel(0, 1, (acts, size))
    ranks = (-felt).argsort(axis=1).argsort(axis=1).astype(np.float64) + 1
    value = np.take_along_axis(ranks, shown, axis=1)
    return _acts(design, chance, shown, rater, value, sample)


def shown_first(drawn: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Return the advantage of the first with the p that the report preferences prints."""
    rows = []
    for question in questions(RatingTable(drawn), "rank"):
        pairs = compared(question)
        if pairs is None or bradley_terry.undefined(pairs.counts()):
            continue
        found = bradley_terry.fit(pairs.counts().halved(), order=True)
        _, p = first_shown(found, errors_of(pairs, found))
        rows.append({"system": ALL, "question": "", "estimate": found.first, "p": p})
    return tidy("shown_first", rows)


def clear_circles(drawn: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Return the p of the surest circle; 1 where there is none."""
    rows = []
    for question in questions(RatingTable(drawn), "rank"):
        pairs = compared(question)
        found = [] if pairs is None else circles(pairs)[0]
        least = found[0].weakest if found else 1.0
        rows.append({"system": ALL, "question": "", "p": least})
    return tidy("circles", rows)


def _liking(design: Design, chance: Generator, rater: np.ndarray) -> Floats:
    size = (int(rater.max()) + 1, design.systems)
    return np.asarray(design.scores + chance.normal(0, design.taste, size), dtype=float)


def _acts(
    design: Design,
    chance: Generator,
    shown: np.ndarray,
    rater: np.ndarray,
    ranks: Floats,
    item: np.ndarray | None = None,
) -> RatingTable:
    acts, size = shown.shape
    of = np.arange(acts) if item is None else item
    who = {
        "system": shown.ravel(),
        "rater": np.repeat(rater, size),
        "conversation": np.repeat(np.arange(acts), size),
        "item": np.repeat(of, size),
        "place": np.tile(np.arange(size), acts),
    }
    return table(who, ranks.ravel(), design, chance, level="rank")
