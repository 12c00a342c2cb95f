"""Two systems compared: the difference, its interval, and tests that respect who rated.

Ratings of one rater depend on each other, so the interval is the mixed model's (systems, and a
random effect of the rater: `analysis.severity`), and the permutation test moves systems only within
a rater (or whole raters, where none saw both).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import special

from analysis.groups import Asked
from analysis.intervals import Floats
from analysis.severity import Fit, Sums, fit, sums
from analysis.significance import holm

PERMUTATIONS = 4000
MOST_CELLS = 20_000_000


@dataclass(frozen=True)
class Difference:
    """System less other: scale points, its standard error and degrees of freedom, and d."""

    system: str
    other: str
    n: int
    estimate: float
    se: float
    df: int
    d: float

    @property
    def p(self) -> float:
        """Return the two-sided p of no difference (Student's t)."""
        return float(2 * special.stdtr(self.df, -abs(self.estimate) / self.se))

    def ends(self, level: float = 0.95) -> tuple[float, float]:
        """Return the interval of this level."""
        half = float(special.stdtrit(self.df, 0.5 + level / 2)) * self.se
        return self.estimate - half, self.estimate + half

    def p_equivalent(self, margin: float) -> float:
        """Return the larger p of two one-sided tests that the difference is beyond the margin.

        Schuirmann 1987 (J. Pharmacokinetics and Biopharmaceutics 15): small means equivalent.
        """
        above = special.stdtr(self.df, -(self.estimate + margin) / self.se)
        below = special.stdtr(self.df, -(margin - self.estimate) / self.se)
        return float(max(above, below))


def differences(asked: Asked) -> list[Difference] | None:
    """Return every pair of systems, the better first; None where no variance can be learned."""
    given = sums(asked)
    fitted = fit(given)
    if fitted is None:
        return None
    freedom = _freedom(given)
    return [
        _difference(given, fitted, a, b, freedom)
        for a in range(len(given.systems))
        for b in range(a)
    ]


def _difference(given: Sums, fitted: Fit, a: int, b: int, freedom: int) -> Difference:
    """`sums` orders systems by score, so `a` is the better of the two.

    d is the difference over the SD of a rating by a rater drawn at random (Cohen 1988, eq. 2.2.1).
    """
    covariance = fitted.scores.covariance
    se = float(np.sqrt(covariance[a, a] + covariance[b, b] - 2 * covariance[a, b]))
    estimate = float(fitted.scores.mean[a] - fitted.scores.mean[b])
    spread = float(np.hypot(fitted.severity, fitted.residual))
    n = int(given.n[a] + given.n[b])
    return Difference(
        given.systems[a], given.systems[b], n, estimate, se, freedom, estimate / spread
    )


def _freedom(given: Sums) -> int:
    """Return degrees of freedom: ratings less systems and raters, or raters less systems.

    The first where raters saw several systems, whose effects are then compared within raters
    (containment; Pinheiro & Bates 2000, section 2.4.2).
    """
    seen = (given.pairs > 0).sum(axis=0)
    raters, systems = len(seen), len(given.systems)
    within = int(given.n.sum()) - systems - raters + 1
    crossed = bool((seen > 1).mean() > 0.5)
    return max(1, within if crossed and within > 0 else raters - systems)


def permutation_p(asked: Asked, system: str, other: str, *, seed: int) -> float | None:
    """Return the two-sided p of no difference by permuting systems within raters.

    Pitman 1937; stratified as in Good 2005, section 3.7. Where no rater saw both, raters are
    permuted as wholes. None where nothing can be permuted.
    """
    names, systems, rater, value = asked.once("ratings in order", lambda: _in_order(asked))
    shown = np.isin(systems, [names[system], names[other]])
    rater, value, one = rater[shown], value[shown], systems[shown] == names[system]
    # Raters of these two systems, counted from 0.
    rater = np.cumsum(np.diff(rater, prepend=rater[:1]) > 0)
    seen = np.bincount(rater, one) * np.bincount(rater, ~one)
    if not (seen > 0).any():
        counts = np.bincount(rater)
        first = np.bincount(rater, one) > 0
        value, one = np.bincount(rater, value) / counts, first
        rater = np.zeros(len(value), dtype=int)
    centered = value - (np.bincount(rater, value) / np.bincount(rater))[rater]
    return _p(centered, one, rater, seed)


def _in_order(asked: Asked) -> tuple[dict[str, int], np.ndarray, np.ndarray, Floats]:
    """Return each system's number, and systems, raters and ratings by rater and rating."""
    systems, names = pd.factorize(asked.rows["system"], sort=True)
    rater = pd.factorize(asked.rows["rater"], sort=True)[0]
    order = np.lexsort((asked.values, rater))
    numbers = {str(name): number for number, name in enumerate(names)}
    return numbers, systems[order], rater[order], asked.values[order]


def _p(centered: Floats, one: np.ndarray, rater: np.ndarray, seed: int) -> float | None:
    """Compare the sum over the one system's ratings with what permutations give.

    Beyond 20 million cells the permutation distribution's exact variance and a normal shape do.
    """
    observed = float(centered[one].sum())
    count, chosen = np.bincount(rater), np.bincount(rater, one)
    squares = np.bincount(rater, centered**2)
    with np.errstate(divide="ignore", invalid="ignore"):
        parts = chosen * (count - chosen) / (count * (count - 1)) * squares
    variance = float(np.nansum(parts))
    if variance <= 1e-12:
        return None
    if len(centered) * PERMUTATIONS > MOST_CELLS:
        return float(2 * special.ndtr(-abs(observed) / np.sqrt(variance)))
    chance = np.random.default_rng(seed)
    order = np.argsort(rater, kind="stable")
    centered, one, rater = centered[order], one[order], rater[order]
    keys = rater + chance.random((PERMUTATIONS, len(rater)))
    moved = np.take_along_axis(np.broadcast_to(centered, keys.shape), keys.argsort(axis=1), axis=1)
    drawn = moved[:, one].sum(axis=1)
    extreme = int((np.abs(drawn) >= abs(observed) - 1e-9).sum())
    return (extreme + 1) / (PERMUTATIONS + 1)


def with_holm(found: Sequence[Difference]) -> Iterator[tuple[Difference, float]]:
    """Yield each difference with its p adjusted over all of them."""
    yield from zip(found, holm([each.p for each in found]), strict=True)
