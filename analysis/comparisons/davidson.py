"""Davidson's likelihood of comparisons of two, for many tables at once, and its maximum.

Davidson 1970 (JASA 65, eq. 2.4) with the advantage of what was shown first (Davidson & Beaver 1977,
Biometrics 33): what `analysis.comparisons.bradley_terry` fits to a table, and to all its resamples
together. Apart because it knows arrays of tables only, and no names, reasons or systems.
"""

from __future__ import annotations

from copy import copy

import numpy as np
from numpy.typing import NDArray

from analysis.stats.intervals import Floats

ITERATIONS = 60
TOLERANCE = 1e-10


class PairTables:
    """Outcomes [table, first shown, second shown], each table a multinomial logit.

    With d half of what the first shown is ahead by, log-odds of its winning, a tie and its losing
    are d, log nu and -d. Parameters [table]: log-abilities, log nu where there are ties, and the
    log advantage of the first.
    """

    def __init__(self, won: Floats, tied: Floats, lost: Floats, *, order: bool) -> None:
        self.systems, self.order = won.shape[-1], order
        self.ties = bool(tied.any())
        self.size = self.systems + self.ties + order
        self.ahead, self.tied = won - lost, tied
        self.total = won + tied + lost
        self.mean = np.zeros(self.size)
        self.mean[: self.systems] = 1
        # Where no pair was shown both ways, one may always have come first, or the first won.
        met = self.total > 0
        both = (met & met.swapaxes(1, 2)).any(axis=(1, 2))
        self.loose = np.asarray(~both & order)

    def highest(self, start: Floats | None) -> Floats:
        """Climb from abilities around 0, or from those given, to the maximum of each table."""
        found = np.zeros((len(self.total), self.size))
        if start is not None:
            found[:, : self.systems] = start
        rest, left = np.arange(len(found)), self
        for _ in range(ITERATIONS):
            if not len(rest):
                break
            now, done = left.climbed(found[rest])
            found[rest] = now
            rest, left = rest[~done], left.some(~done) if done.any() else left
        return found

    def some(self, which: NDArray[np.bool_]) -> PairTables:
        """Return these of the tables."""
        left = copy(self)
        for name in ("ahead", "tied", "total", "loose"):
            setattr(left, name, getattr(self, name)[which])
        return left

    def climbed(self, now: Floats) -> tuple[Floats, NDArray[np.bool_]]:
        """Return where a step of Newton leads, halved until it goes up, and which need no other."""
        gradient, information = self.slopes(now)
        step = _solved(information, gradient, self.loose)
        value = self.height(now)
        share = np.ones((len(now), 1))
        reached = self.height(now + step)
        while (short := (reached < value - 1e-12) & (share[:, 0] > 1e-8)).any():
            share[short] /= 2
            reached = self.height(now + share * step)
        near = np.abs(reached - value) < TOLERANCE * (1 + np.abs(reached))
        flat = np.abs(gradient).max(axis=1) < 1e-7 * (1 - reached)
        return now + share * step, near & flat

    def _parts(self, at: Floats) -> tuple[Floats, Floats | None, Floats]:
        """Return d of every pair, log nu, and the log of what the three outcomes add up to."""
        mean = at[:, : self.systems]
        half = (mean[:, :, None] - mean[:, None, :]) / 2
        if self.order:
            half += at[:, -1, None, None] / 2
        peak = np.abs(half)
        if not self.ties:
            return half, None, peak + np.log1p(np.exp(-2 * peak))
        tie = at[:, self.systems, None, None]
        peak = np.maximum(peak, tie)
        parts = np.exp(half - peak) + np.exp(-half - peak) + np.exp(tie - peak)
        return half, tie, peak + np.log(parts)

    def height(self, at: Floats) -> Floats:
        """Return the log-likelihood of each table."""
        half, tie, whole = self._parts(at)
        found = self.ahead * half - self.total * whole
        return np.asarray((found if tie is None else found + self.tied * tie).sum(axis=(1, 2)))

    def slopes(self, at: Floats) -> tuple[Floats, Floats]:
        """Return gradients and informations; a mean ability is held at 0 by a unit weight."""
        half, tie, whole = self._parts(at)
        won, lost = np.exp(half - whole), np.exp(-half - whole)
        lead = won - lost
        weight = self.total * (won + lost - lead**2) / 4
        gradient, information = self._around((self.ahead - self.total * lead) / 2, weight)
        if tie is not None:
            tied, index = np.exp(tie - whole), self.systems
            gradient[:, index] = (self.tied - self.total * tied).sum(axis=(1, 2))
            crossed = self._directions(-self.total * tied * lead / 2)
            crossed[:, index] = (self.total * tied * (1 - tied)).sum(axis=(1, 2))
            information[:, index] = information[:, :, index] = crossed
        held = (at @ self.mean)[:, None] * self.mean
        return gradient - held, information + np.outer(self.mean, self.mean)

    def _directions(self, pairs: Floats) -> Floats:
        """Return what pairs add to the first, take from the second, and add to the advantage."""
        found = np.zeros((len(pairs), self.size))
        found[:, : self.systems] = pairs.sum(axis=2) - pairs.sum(axis=1)
        if self.order:
            found[:, -1] = pairs.sum(axis=(1, 2))
        return found

    def _around(self, slope: Floats, weight: Floats) -> tuple[Floats, Floats]:
        """Return gradient and information without ties, from those in 2d of every pair."""
        information = np.zeros((len(slope), self.size, self.size))
        both, at = weight + weight.swapaxes(1, 2), np.arange(self.systems)
        information[:, : self.systems, : self.systems] = -both
        information[:, at, at] += both.sum(axis=2)
        if self.order:
            information[:, -1] = information[:, :, -1] = self._directions(weight)
        return self._directions(slope), information


def _solved(information: Floats, gradient: Floats, loose: NDArray[np.bool_]) -> Floats:
    """Return the steps; the shortest where nothing holds some direction, as a loose one may be."""
    steps = np.empty_like(gradient)
    for which, inverse in ((~loose, False), (loose, True)):
        if which.any():
            steps[which] = _steps(information[which], gradient[which, :, None], inverse)
    return steps


def _steps(information: Floats, gradient: Floats, inverse: bool) -> Floats:
    if not inverse:
        try:
            return np.asarray(np.linalg.solve(information, gradient)[..., 0], dtype=float)
        except np.linalg.LinAlgError:
            pass  # one of them is singular
    rounding = np.finfo(float).eps * information.shape[-1]
    inverses = np.linalg.pinv(information, rcond=rounding, hermitian=True)
    return np.asarray((inverses @ gradient)[..., 0], dtype=float)
