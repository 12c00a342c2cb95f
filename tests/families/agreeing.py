"""Campaigns of raters who judge the same items, with the agreement that is true of them.

By numpy alone: Krippendorff's alpha and the share of pairs that agree are those of very many items,
from the coincidences of answers (Krippendorff 2011). Nothing of `analysis` is used here.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.random import Generator

MANY = 60_000


@dataclass(frozen=True, kw_only=True)
class Agreement:
    """A design of `items` that `votes` of the same `raters` judge in every campaign.

    With `others` the raters are new ones in each, and agreement is that of many raters.
    """

    name: str
    low: int = 1
    high: int = 5
    raters: int = 5
    votes: int = 5
    items: int = 80
    base: float = 3
    rater: float = 0.7
    item: float = 0.9
    noise: float = 0.8
    others: bool = False
    abstains: bool = False
    biased: tuple[str, ...] = ()

    @property
    def is_yes_no(self) -> bool:
        return (self.low, self.high) == (0, 1)


@dataclass(frozen=True, eq=False)
class Judged:
    """Rater, item and answer of each rating, and the true alpha and share of agreement."""

    rater: np.ndarray
    item: np.ndarray
    value: np.ndarray
    alpha: float
    agreed: float


def draw(of: Agreement, chance: Generator) -> Judged:
    """Draw a campaign of items that are new, by raters who are the same unless they are others."""
    severity = chance.normal(0, of.rater, of.raters) if of.others else _same(of)
    value, rater = _answers(of, severity, of.items, chance)
    item = np.repeat(np.arange(of.items), of.votes)
    return Judged(rater.ravel(), item, value.ravel(), *truth(of))


@cache
def truth(of: Agreement) -> tuple[float, float]:
    """Return alpha and the share of pairs that agree, of very many items."""
    chance = np.random.default_rng(zlib.crc32(of.name.encode()) + 1)
    raters = 4000 if of.others else of.raters
    severity = chance.normal(0, of.rater, raters) if of.others else _same(of)
    value, _ = _answers(of, severity, MANY, chance)
    answers = np.arange(of.low, of.high + 1)
    counts = (value[:, :, None] == answers).sum(axis=1).astype(float)
    pairs = counts.T @ (counts / (of.votes - 1)) - np.diag(counts.sum(axis=0) / (of.votes - 1))
    agreed = float(np.trace(pairs) / pairs.sum())
    total = counts.sum(axis=0)
    distance = 1 - np.eye(len(answers)) if of.is_yes_no else _ordinal(total)
    expected = np.outer(total, total) / total.sum()
    return 1 - float((pairs * distance).sum() / (expected * distance).sum()), agreed


def _ordinal(total: np.ndarray) -> np.ndarray:
    """Return squared numbers of answers between two categories, with half of each."""
    middle = np.cumsum(total) - total / 2
    return np.asarray((middle[:, None] - middle) ** 2)


def _same(of: Agreement) -> np.ndarray:
    return np.random.default_rng(zlib.crc32(of.name.encode())).normal(0, of.rater, of.raters)


def _answers(
    of: Agreement, severity: np.ndarray, items: int, chance: Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Return answers and raters [item, vote]."""
    if len(severity) > 100:
        rater = chance.integers(0, len(severity), (items, of.votes))
    else:
        rater = np.argsort(chance.random((items, len(severity))), axis=1)[:, : of.votes]
    felt = of.base + severity[rater] + chance.normal(0, of.item, items)[:, None]
    felt = felt + chance.normal(0, of.noise, rater.shape)
    return np.clip(np.round(felt), of.low, of.high), rater
