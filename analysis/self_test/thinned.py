"""Thinned design: whole items of a large table drawn by chance, on which a self-test takes seconds.

Items, or conversations where there are effects of these, are taken with all their ratings, so that
raters stay crossed with items and systems as they are; each rater has fewer of them. What varies is
as fitted to the whole table. Apart because nothing of it is needed for a table of usual size.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from analysis.scores.incidence import incidence
from analysis.scores.system_scores import ITEM, ScoredDesign, withheld
from analysis.self_test.population import Population

# Ratings of a question up to which all are simulated.
MOST = 5000
CONVERSATION = "conversation"


@dataclass(frozen=True, eq=False)
class SimulatedPart:
    """A design to simulate: `rows` of the whole, which are `share` of its ratings."""

    design: ScoredDesign
    rows: np.ndarray
    share: float

    def of(self, whole: Population) -> Population:
        """Return the population of the whole design with the levels of these rows alone."""
        if self.share == 1:
            return whole
        effects = {name: _codes(codes[self.rows]) for name, codes in whole.effects.items()}
        return replace(whole, system=whole.system[self.rows], effects=effects)


def thinned(design: ScoredDesign, seed: int, most: int = MOST) -> SimulatedPart | None:
    """Return the design, or of a larger one whole items or conversations, `most` ratings in all.

    None where such a part lacks a system or an effect of the whole, so that its campaigns would be
    fitted by another model.
    """
    ratings = design.incidence.ratings
    if ratings <= most:
        return SimulatedPart(design, np.arange(ratings), 1.0)
    unit = CONVERSATION if CONVERSATION in design.incidence.effects else ITEM
    codes = design.known[unit]
    drawn = np.random.default_rng(seed).permutation(int(codes.max()) + 1)
    taken = drawn[np.cumsum(np.bincount(codes)[drawn]) <= most]
    rows = np.flatnonzero(np.isin(codes, taken))
    system = design.incidence.system[rows]
    if len(np.unique(system)) < len(design.systems):
        return None
    effects = {k: _codes(v[rows]) for k, v in design.incidence.effects.items()}
    left = incidence(system, effects)
    if withheld(left) or [*left.effects] != [*design.incidence.effects]:
        return None
    known = {name: _codes(each[rows]) for name, each in design.known.items()}
    part = replace(design, incidence=left, known=known, reason=None)
    return SimulatedPart(part, rows, len(rows) / ratings)


def _codes(codes: np.ndarray) -> np.ndarray:
    return np.asarray(pd.factorize(codes)[0])
