"""Campaigns of votes whose truth is known, drawn by numpy alone.

The log odds that one system wins are the gap of abilities, of what the rater likes and of what the
context does to each, and the advantage of being shown first. Nothing of `analysis` is used here.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from functools import cache
from itertools import combinations

import numpy as np
from numpy.random import Generator

TRUTH_DRAWS = 400_000
STEPS = 2000


@dataclass(frozen=True, kw_only=True)
class Votes:
    """A design of comparisons in twos, or of `ranked` whole rankings; SDs are in log odds.

    Each pair has `contexts` with `votes` of the raters each; contexts are the pair's own unless
    `shared`. With `once` every vote is another person's.
    """

    name: str
    systems: int = 4
    contexts: int = 20
    votes: int = 1
    raters: int = 12
    taste: float = 0.3
    context: float = 0
    ties: float = 0.15
    first: float = 0
    gap: float = 0
    shared: bool = False
    ranked: bool = False
    once: bool = False
    missing: float = 0
    abstains: bool = False
    biased: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Compared:
    """Rows of a table of ranks: who was where in which act of comparing."""

    system: np.ndarray
    rater: np.ndarray
    item: np.ndarray
    context: np.ndarray
    shown_at: np.ndarray
    position: np.ndarray
    rates: np.ndarray
    abilities: np.ndarray


def draw(of: Votes, chance: Generator) -> Compared:
    """Draw a campaign of votes, with each system's true share of wins and ability."""
    return _ranked(of, chance) if of.ranked else _in_twos(of, chance)


def _in_twos(of: Votes, chance: Generator) -> Compared:
    pairs = np.array(list(combinations(range(of.systems), 2)))
    item = np.repeat(np.arange(len(pairs) * of.contexts), of.votes)
    rater = _panels(of, len(pairs) * of.contexts, chance)
    kept = chance.random(len(item)) >= of.missing
    item, rater = item[kept], rater[kept]
    pair = item // of.contexts
    context = item % of.contexts if of.shared else item
    likes = _likes(of, rater, context, chance)
    both = pairs[pair]
    # Who is shown first is drawn by lot.
    swapped = chance.random(len(both)) < 0.5
    both[swapped] = both[swapped][:, ::-1]
    acts = np.arange(len(both))
    odds = likes[acts, both[:, 0]] - likes[acts, both[:, 1]] + of.first
    won = chance.random(len(both)) < _chance(odds)
    tied = chance.random(len(both)) < of.ties
    position = np.column_stack([np.where(won | tied, 1, 2), np.where(won & ~tied, 2, 1)])
    shown_at = np.tile([0, 1], (len(both), 1))
    return _rows(of, both, rater, item, context, shown_at, position)


def _ranked(of: Votes, chance: Generator) -> Compared:
    item = np.repeat(np.arange(of.contexts), of.votes)
    rater = _panels(of, of.contexts, chance)
    likes = _likes(of, rater, item, chance) + chance.gumbel(size=(len(item), of.systems))
    position = (-likes).argsort(axis=1).argsort(axis=1) + 1
    shown_at = chance.random(likes.shape).argsort(axis=1)
    every = np.tile(np.arange(of.systems), (len(item), 1))
    return _rows(of, every, rater, item, item, shown_at, position)


def _likes(of: Votes, rater: np.ndarray, context: np.ndarray, chance: Generator) -> np.ndarray:
    """Return how good each system [act, system] is to this rater in this context."""
    tastes = chance.normal(0, of.taste / np.sqrt(2), (int(rater.max()) + 1, of.systems))
    replies = chance.normal(0, of.context / np.sqrt(2), (int(context.max()) + 1, of.systems))
    return np.asarray(_abilities(of) + tastes[rater] + replies[context])


def _rows(
    of: Votes, systems: np.ndarray, rater: np.ndarray, item: np.ndarray, context: np.ndarray,
    shown_at: np.ndarray, position: np.ndarray,
) -> Compared:  # fmt: skip
    each = systems.shape[1]
    rates, abilities = truth(of)
    return Compared(
        systems.ravel(), np.repeat(rater, each), np.repeat(item, each), np.repeat(context, each),
        shown_at.ravel(), position.ravel(), rates, abilities,
    )  # fmt: skip


@cache
def truth(of: Votes) -> tuple[np.ndarray, np.ndarray]:
    """Return shares of wins over a balanced schedule, and the abilities that give these shares."""
    chance = np.random.default_rng(zlib.crc32(of.name.encode()))
    spread = np.hypot(of.taste, of.context) * chance.standard_normal(TRUTH_DRAWS // 2)
    spread = np.concatenate([spread, -spread])
    abilities = _abilities(of)
    wins = np.full((of.systems, of.systems), 0.5)
    for a, b in combinations(range(of.systems), 2):
        gap = abilities[a] - abilities[b] + spread
        share = float(np.mean([_chance(gap + of.first).mean(), _chance(gap - of.first).mean()]))
        wins[a, b] = of.ties / 2 + (1 - of.ties) * share
        wins[b, a] = 1 - wins[a, b]
    rates = (wins.sum(axis=1) - 0.5) / (of.systems - 1)
    return rates, _fitted(wins) if of.gap else np.zeros(of.systems)


def _fitted(wins: np.ndarray) -> np.ndarray:
    """Return Bradley and Terry's log abilities of expected wins (Zermelo 1929), mean 0."""
    strength = np.ones(len(wins))
    np.fill_diagonal(wins, 0)
    for _ in range(STEPS):
        met = (1 - np.eye(len(wins))) / (strength[:, None] + strength)
        strength = wins.sum(axis=1) / met.sum(axis=1)
        strength /= np.exp(np.log(strength).mean())
    return np.asarray(np.log(strength))


def _abilities(of: Votes) -> np.ndarray:
    return np.asarray(of.gap * (np.arange(of.systems) - (of.systems - 1) / 2))


def _panels(of: Votes, count: int, chance: Generator) -> np.ndarray:
    if of.once:
        return np.arange(count * of.votes)
    return np.argsort(chance.random((count, of.raters)), axis=1)[:, : of.votes].ravel()


def _chance(odds: np.ndarray) -> np.ndarray:
    return np.asarray(1 / (1 + np.exp(-odds)))
