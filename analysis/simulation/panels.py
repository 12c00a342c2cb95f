"""Items that several raters judge: of one panel, of five new people, or drawn from a pool."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.random import Generator
from scipy import special

from analysis.simulation.campaigns import Design, table
from analysis.stats.intervals import Floats
from analysis.tables.schema import RatingTable

Raters = Literal["panel", "new", "pool"]
Asks = Literal["scale", "yes"]
# Each rater of a pool judges about so many items.
OF_A_RATER = 20


@dataclass(frozen=True)
class Judged:
    """Draws `votes` ratings of each system's replies.

    The raters are the same panel in every campaign ("panel"), as many people who are new to each
    campaign and judge all ("new"), or drawn for each item from a pool that is new ("pool"). Items
    are the same in every campaign where they are `fixed`.
    """

    raters: Raters
    asks: Asks = "scale"
    fixed: bool = False

    def __call__(self, design: Design, chance: Generator) -> RatingTable:
        items = design.systems * design.conversations
        who, bias = self._raters(items, design, chance)
        rater = who.ravel()
        item = np.repeat(np.arange(items), design.votes)
        system = item // design.conversations
        reply = self._replies(items, design, chance)
        felt = design.scores[system] + reply[item] + bias[rater]
        drawn = {"system": system, "rater": rater, "conversation": item, "place": item * 0}
        if self.asks == "yes":
            value = (chance.random(len(felt)) < special.expit(felt)).astype(float)
            return table(drawn, value, design, chance, level="nominal")
        felt = 3 + felt + chance.normal(0, design.noise, len(felt))
        value = np.clip(np.round(felt), 1, 5)
        ends = {"scale_low": 1.0, "scale_high": 5.0}
        return table(drawn, value, design, chance, level="ordinal", **ends)

    def _replies(self, items: int, design: Design, chance: Generator) -> Floats:
        if not self.fixed:
            return np.asarray(chance.normal(0, design.conversation_sd, items), dtype=float)
        # The quantiles that each system's replies would have, in no order.
        quantiles_at = (np.arange(design.conversations) + 0.5) / design.conversations
        quantiles = np.random.default_rng(items).permutation(
            design.conversation_sd * special.ndtri(quantiles_at)
        )
        return np.asarray(np.resize(quantiles, items), dtype=float)

    def _raters(self, items: int, design: Design, chance: Generator) -> tuple[np.ndarray, Floats]:
        if self.raters == "pool":
            pool = max(2 * design.votes, items * design.votes // OF_A_RATER)
            return several(chance, items, design.votes, pool), severities(design, chance, pool)
        who = np.tile(np.arange(design.votes), (items, 1))
        if self.raters == "new":
            return who, severities(design, chance, design.votes)
        quantiles_at = (np.arange(design.votes) + 0.5) / design.votes
        return who, np.asarray(design.severity * special.ndtri(quantiles_at), dtype=float)


def severities(design: Design, chance: Generator, count: int) -> Floats:
    """Draw how much each rater's answers are above or below others'."""
    return np.asarray(chance.normal(0, design.severity, count), dtype=float)


def several(chance: Generator, rows: int, count: int, pool: int) -> np.ndarray:
    """Draw `count` different numbers below `pool` in each row."""
    drawn = chance.integers(0, pool, (rows, count))
    while True:
        ordered = np.sort(drawn, axis=1)
        again = (ordered[:, 1:] == ordered[:, :-1]).any(axis=1)
        if not again.any():
            return drawn
        drawn[again] = chance.integers(0, pool, (int(again.sum()), count))
