"""Population that campaigns are drawn from: what each rating is of, and how much of it varies.

A rating is felt on a line, as the sum of a system's center, a normal draw per level of each effect,
and noise; it is then rounded to the scale's steps and clipped to its ends. Truth is the mean of the
rounded, clipped normal of the total SD. Apart from, and sharing no code with, the estimators that
are tried on it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy import special

Floats = NDArray[np.float64]
Ints = NDArray[np.integer]

NO_INTERVAL = "it draws ratings and knows their truth"

STEPS = (1.0, 0.5, 0.25, 0.1)
# A scale of more steps is a line.
MOST_STEPS = 2000
SEVERAL = 1e-9


@dataclass(frozen=True)
class AnswerScale:
    """The answers that can be given: ends, where declared, and the step between two answers."""

    low: float
    high: float
    step: float | None

    @property
    def span(self) -> float:
        return self.high - self.low

    @property
    def is_yes_no(self) -> bool:
        return self.step == self.span

    def answers(self, felt: Floats) -> Floats:
        """Return the answer to each feeling."""
        base = 0.0 if np.isinf(self.low) else self.low
        if self.step is not None:
            felt = base + self.step * np.round((felt - base) / self.step)
        return np.asarray(np.clip(felt, self.low, self.high))

    @property
    def edges(self) -> Floats:
        """Feelings at which the answer changes; none where the scale is a line."""
        if self.step is None or np.isinf(self.span) or self.span > MOST_STEPS * self.step:
            return np.zeros(0)
        count = round(self.span / self.step)
        return np.asarray(self.low + self.step * (np.arange(count) + 0.5))

    def mean(self, center: Floats, sd: float) -> Floats:
        """Return the mean answer of normal feelings (shape of `center`)."""
        return self._moments(center, sd)[0]

    def variance(self, center: Floats, sd: float) -> Floats:
        """Return the variance of the answers."""
        return self._moments(center, sd)[1]

    def slope(self, center: Floats, sd: float) -> Floats:
        """Return how much the mean answer moves as the center does."""
        if np.isinf(self.span):
            return np.ones_like(center)
        edges, width = self._cut()
        z = (center[..., None] - edges) / sd
        return np.asarray(width * np.exp(-0.5 * z**2).sum(-1) / (sd * np.sqrt(2 * np.pi)))

    def _moments(self, center: Floats, sd: float) -> tuple[Floats, Floats]:
        if np.isinf(self.span):
            return center, np.full_like(center, sd**2)
        edges, width = self._cut()
        above = special.ndtr((center[..., None] - edges) / sd)
        numbers = width * np.arange(len(edges) + 1)
        chances = -np.diff(above, axis=-1, prepend=1.0, append=0.0)
        mean = chances @ numbers
        return self.low + mean, chances @ numbers**2 - mean**2

    def _cut(self) -> tuple[Floats, float]:
        """Return the edges and the step; of a line, those of a fine scale."""
        if len(self.edges):
            return self.edges, float(self.step or 0.0)
        width = self.span / 400
        return np.asarray(self.low + width * (np.arange(400) + 0.5)), width


def answer_scale(values: Floats, ends: tuple[float, float] | None) -> AnswerScale:
    """Return the scale of these answers; undeclared ends are infinite."""
    low, high = ends or (-np.inf, np.inf)
    base = 0.0 if np.isinf(low) else low
    for step in STEPS:
        steps = (values - base) / step
        if np.abs(steps - np.round(steps)).max() < SEVERAL:
            return AnswerScale(low, high, step)
    return AnswerScale(low, high, None)


@dataclass(frozen=True, eq=False)
class Population:
    """Systems' centers, SDs by effect, and the codes of each rating's levels.

    `uncertain` are standard errors of the variances; a campaign's variances are drawn with them.
    `odd` of the raters answer at random; `lost` is the slope of the chance to be lost by quality.
    """

    system: Ints
    effects: Mapping[str, Ints]
    centers: Floats
    variances: Mapping[str, float]
    noise: float
    scale: AnswerScale
    uncertain: Mapping[str, float]
    odd: int = 0
    lost: float = 0.0

    def equal(self) -> Population:
        """Return the same with every system at the mean center."""
        weights = np.bincount(self.system)
        middle = float((self.centers * weights).sum() / weights.sum())
        return replace(self, centers=np.full_like(self.centers, middle))

    def drawn(self, chance: Generator) -> DrawnCampaign:
        """Return a campaign: its ratings, which of them are there, and each system's truth."""
        felt = self.centers[self.system] + chance.normal(0, np.sqrt(self.noise), len(self.system))
        total = self.noise
        for name, codes in self.effects.items():
            # Reflected at 0: what fits best as nothing may yet be something.
            variance = abs(chance.normal(self.variances[name], self.uncertain.get(name, 0.0)))
            felt = felt + chance.normal(0, np.sqrt(variance), int(codes.max()) + 1)[codes]
            total += variance
        values = self.scale.answers(felt)
        if self.odd and "rater" in self.effects:
            values = self._with_odd(values, chance)
        sd = float(np.sqrt(total))
        kept = np.ones(len(felt), dtype=bool)
        if self.lost:
            gap = (felt - self.centers.mean()) / sd
            kept = chance.random(len(felt)) < special.expit(1 + self.lost * gap)
        return DrawnCampaign(values, kept, self.scale.mean(self.centers, sd))

    def _with_odd(self, values: Floats, chance: Generator) -> Floats:
        codes = self.effects["rater"]
        who = chance.choice(np.unique(codes), self.odd, replace=False)
        at_random = np.isin(codes, who)
        # Answers of somebody, in any order, are on the scale and say nothing.
        return np.where(at_random, chance.permutation(values), values)


@dataclass(frozen=True, eq=False)
class DrawnCampaign:
    """Ratings, which of them are there, and the mean rating that each system deserves."""

    values: Floats
    kept: NDArray[np.bool_]
    truth: Floats
