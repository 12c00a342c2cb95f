"""Board of systems by Bradley and Terry's abilities: which are told apart, and what ranks hold.

Differences have errors clustered by rater and by context. All comparisons of a family hold at once
by the largest t (max-t: Westfall & Young 1993, Resampling-Based Multiple Testing, ch. 2; Hothorn,
Bretz & Westfall 2008, Biometrical Journal 50, 346-363), drawn from the normal with their
correlations; each t keeps its own degrees of freedom. A rank's interval leaves out as many places
as there are systems clearly above, and below (Mogstad, Romano, Shaikh & Wilhelm 2024, Review of
Economic Studies 91, 476-518, section 3).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from scipy import special

from analysis.comparisons import bradley_terry as model
from analysis.comparisons import likelihoods
from analysis.comparisons.clustered import Clustered, Gradients, clustered
from analysis.comparisons.preferences import Compared
from analysis.stats.intervals import LEVEL, Floats

SIMULATED_AS = ("board neighbors", "board ranks")

DRAWS = 2000


@dataclass(frozen=True, eq=False)
class Board:
    """Abilities with their clustered errors; `seed` is of the draws of the largest t."""

    found: Compared
    fitted: model.Abilities
    errors: Clustered
    likelihood: Gradients
    seed: int

    @cached_property
    def order(self) -> np.ndarray:
        """The systems, best first."""
        return np.argsort(-self.fitted.mean, kind="stable")

    @cached_property
    def drawn(self) -> Floats:
        """Errors of all abilities [draw, system] with the covariance of both ways."""
        size = len(self.found.systems)
        values, vectors = np.linalg.eigh(self.errors.both[:size, :size])
        root = vectors * np.sqrt(np.maximum(values, 0))
        chance = np.random.default_rng(self.seed)
        return np.asarray(chance.standard_normal((DRAWS, size)) @ root.T, dtype=float)

    def neighbors(self) -> pd.DataFrame:
        """Return each system with the next: gap, its error, and p over all neighbors at once."""
        upper, lower = self.order[:-1], self.order[1:]
        gap = self.fitted.mean[upper] - self.fitted.mean[lower]
        se, z = self.errors.pairs()[0][upper, lower], self.rarity[upper, lower]
        largest = _studentized((self.drawn[:, upper] - self.drawn[:, lower]).T).max(axis=0)
        p = (1 + (largest[:, None] >= z).sum(axis=0)) / (1 + DRAWS)
        names = np.array(self.found.systems)
        columns = {"system": names[upper], "next": names[lower], "gap": gap, "se": se, "p": p}
        return pd.DataFrame(columns)

    def ranks(self) -> pd.DataFrame:
        """Return a row per system, best first: its rank, alone and at once with all others."""
        size = len(self.order)
        alone, largest = np.empty(size), np.zeros(DRAWS)
        drawn = np.ascontiguousarray(self.drawn.T)
        for k in range(size):
            own = _studentized(drawn - drawn[k]).max(axis=0)
            alone[k] = np.quantile(own, LEVEL)
            np.maximum(largest, own, out=largest)
        z = self.rarity
        above = self.fitted.mean[None, :] > self.fitted.mean[:, None]
        ends = [
            _ends(z, above, limit) for limit in (alone, np.full(size, np.quantile(largest, LEVEL)))
        ]
        (low, high), (low_all, high_all) = ends
        columns = {"rank": np.argsort(self.order) + 1, "low": low, "high": high}
        columns |= {"low at once": low_all, "high at once": high_all}
        found = pd.DataFrame({"system": self.found.systems, **columns})
        return found.iloc[self.order].reset_index(drop=True)

    @cached_property
    def rarity(self) -> Floats:
        """Normal quantiles [system, system] that are as rare as the t of each difference."""
        se, df = self.errors.pairs()
        gap = np.abs(self.fitted.mean[:, None] - self.fitted.mean)
        with np.errstate(invalid="ignore", divide="ignore"):
            tail = special.stdtr(df, -gap / se)
        return np.where(se > 0, -special.ndtri(tail), 0.0)


def board(found: Compared, *, order: bool, seed: int) -> Board:
    """Fit the board; abilities must exist (`bradley_terry.undefined`)."""
    fitted = model.fit(found.counts().halved(), order=order)
    more = [np.ones(len(found.first))] if order else []
    at = np.append(fitted.mean, [fitted.first] if order else [])
    likelihood = likelihoods.of_halves(found, likelihoods.design(found, *more), at)
    return Board(found, fitted, clustered(likelihood, found.rater, found.context), likelihood, seed)


def _studentized(drawn: Floats) -> Floats:
    """Return the draws [contrast, draw] without their sign, in units of their spread."""
    spread = np.sqrt(np.einsum("cd,cd->c", drawn, drawn) / drawn.shape[1])
    return np.asarray(np.abs(drawn) / np.where(spread > 0, spread, 1.0)[:, None], dtype=float)


def _ends(z: Floats, above: np.ndarray, limit: Floats) -> tuple[np.ndarray, np.ndarray]:
    clear = z > limit[:, None]
    better, worse = (clear & above).sum(axis=1), (clear & above.T).sum(axis=1)
    return 1 + better, len(z) - worse
