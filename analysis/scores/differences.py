"""Differences of two systems, with intervals and tests that respect who rated.

Ratings of one rater depend on each other, so the interval is the mixed model's (systems, and a
random effect of the rater: `analysis.scores.severity`), and the permutation test moves systems only
within a rater (or whole raters, where none saw both). Apart because the model of a pair and its
tests are statistics, and the metric lays them out in rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np
import pandas as pd
from scipy import special

from analysis.scores.question_ratings import QuestionRatings
from analysis.scores.severity import Fit, Sums, fit, sums
from analysis.stats.intervals import Floats
from analysis.stats.significance import holm

SIMULATED_AS = ("system_difference",)

PERMUTATIONS = 4000
MOST_CELLS = 20_000_000
MOST_SUBSETS = 256  # of one rater's ratings, to be listed


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


def differences(question: QuestionRatings) -> list[Difference] | None:
    """Return every pair of systems, the better first; None where no variance can be learned."""
    totals = sums(question)
    fitted = fit(totals)
    if fitted is None:
        return None
    freedom = _freedom(totals)
    return [
        _difference(totals, fitted, a, b, freedom)
        for a in range(len(totals.systems))
        for b in range(a)
    ]


def _difference(sums: Sums, fitted: Fit, a: int, b: int, freedom: int) -> Difference:
    """`sums` orders systems by score, so `a` is the better of the two.

    d is the difference over the SD of a rating by a rater drawn at random (Cohen 1988, eq. 2.2.1).
    """
    covariance = fitted.scores.covariance
    se = float(np.sqrt(covariance[a, a] + covariance[b, b] - 2 * covariance[a, b]))
    estimate = float(fitted.scores.mean[a] - fitted.scores.mean[b])
    spread = float(np.hypot(fitted.severity, fitted.residual))
    n = int(sums.n[a] + sums.n[b])
    return Difference(sums.systems[a], sums.systems[b], n, estimate, se, freedom, estimate / spread)


def _freedom(sums: Sums) -> int:
    """Return degrees of freedom: ratings less systems and raters, or raters less systems.

    The first where raters saw several systems, whose effects are then compared within raters
    (containment; Pinheiro & Bates 2000, section 2.4.2).
    """
    per_rater = (sums.pairs > 0).sum(axis=0)
    raters, systems = len(per_rater), len(sums.systems)
    within = int(sums.n.sum()) - systems - raters + 1
    crossed = bool((per_rater > 1).mean() > 0.5)
    return max(1, within if crossed and within > 0 else raters - systems)


def permutation_p(question: QuestionRatings, system: str, other: str, *, seed: int) -> float | None:
    """Return the two-sided p of no difference by permuting systems within raters.

    Pitman 1937; stratified as in Good 2005, section 3.7. Where no rater saw both, raters are
    permuted as wholes. None where nothing can be permuted.
    """
    names, systems, rater, value = question.once("ratings in order", lambda: _in_order(question))
    shown = np.isin(systems, [names[system], names[other]])
    rater, value, one = rater[shown], value[shown], systems[shown] == names[system]
    # Raters of these two systems, counted from 0.
    rater = np.cumsum(np.diff(rater, prepend=rater[:1]) > 0)
    per_rater = np.bincount(rater, one) * np.bincount(rater, ~one)
    if not (per_rater > 0).any():
        counts = np.bincount(rater)
        first = np.bincount(rater, one) > 0
        value, one = np.bincount(rater, value) / counts, first
        rater = np.zeros(len(value), dtype=int)
    centered = value - (np.bincount(rater, value) / np.bincount(rater))[rater]
    return _p(centered, one, rater, seed)


def _in_order(question: QuestionRatings) -> tuple[dict[str, int], np.ndarray, np.ndarray, Floats]:
    """Return each system's number, and systems, raters and ratings by rater and rating."""
    systems, names = pd.factorize(question.rows["system"], sort=True)
    rater = pd.factorize(question.rows["rater"], sort=True)[0]
    order = np.lexsort((question.values, rater))
    numbers = {str(name): number for number, name in enumerate(names)}
    return numbers, systems[order], rater[order], question.values[order]


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
    # Ratings of a rater who saw one of both only sum to 0 wherever they are moved.
    both = ((chosen > 0) & (chosen < count))[rater]
    drawn = _drawn(centered[both], one[both], rater[both], np.random.default_rng(seed))
    extreme = int((np.abs(drawn) >= abs(observed) - 1e-9).sum())
    return (extreme + 1) / (PERMUTATIONS + 1)


def _drawn(
    centered: Floats, one: np.ndarray, rater: np.ndarray, chance: np.random.Generator
) -> Floats:
    """Return the sum over the one system's ratings for each permutation within raters, who are
    in order.
    """
    _, rater = np.unique(rater, return_inverse=True)
    count, chosen = np.bincount(rater), np.bincount(rater, one).astype(int)
    first = np.cumsum(count) - count
    drawn = np.zeros(PERMUTATIONS)
    for n, k in sorted({*zip(count.tolist(), chosen.tolist(), strict=True)}):
        alike = first[(count == n) & (chosen == k)]
        drawn += _sums_of_k(centered[alike[:, np.newaxis] + np.arange(n)], k, chance)
    return drawn


def _sums_of_k(values: Floats, k: int, chance: np.random.Generator) -> Floats:
    """Draw k of the n values of each row; return the sum over all rows for each permutation.

    `values` has a row per rater. Few subsets are listed, and one is drawn per rater; many are
    drawn by sorting random keys.
    """
    raters, n = values.shape
    total = np.zeros(PERMUTATIONS)
    if comb(n, k) <= MOST_SUBSETS:
        sums = values[:, list(combinations(range(n), k))].sum(axis=2)
        picks = chance.integers(sums.shape[1], size=(PERMUTATIONS, raters))
        total += sums[np.arange(raters), picks].sum(axis=1)
        return total
    for row in values:
        keys = chance.random((PERMUTATIONS, n))
        total += row[keys.argpartition(k - 1, axis=1)[:, :k]].sum(axis=1)
    return total


def with_holm(found: Sequence[Difference]) -> Iterator[tuple[Difference, float]]:
    """Yield each difference with its p adjusted over all of them."""
    yield from zip(found, holm([each.p for each in found]), strict=True)
