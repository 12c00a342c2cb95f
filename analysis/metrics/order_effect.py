"""Order effect: drift of answers with the position at which something was shown.

A linear model of system, place and a random effect of the rater, whose two variances are those that
restricted maximum likelihood gives once the drift is taken out (Searle et al. 1992, Variance
Components, ch. 6), and the slope by generalized least squares, in turn. The estimate is scale
points for each later place; `p` is two-sided, normal.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from scipy import special

from analysis.scores.question_ratings import QuestionRatings, questions
from analysis.scores.severity import Sums, equations, fit, sums
from analysis.stats.intervals import Floats, normal_interval
from analysis.tables import cell_values, invalid_rows
from analysis.tables.schema import RatingTable
from analysis.tables.tidy import ALL, tidy

ROUNDS = 3
NO_RESIDUAL = "no variance is left within systems, so an effect cannot be separated from chance"
NO_PLACE = "some ratings have no place, so their order is unknown"
ONE_PLACE = "everything was shown at one place, or the place depends on the system"


def order_effect(ratings: RatingTable) -> pd.DataFrame:
    """Return a row per ordinal or interval question: the slope over places."""
    rated = questions(ratings, "ordinal", "interval")
    return tidy("order_effect", (row for one in rated for row in _question_rows(one)))


@dataclass(frozen=True, eq=False)
class OrderSums:
    """Sums of ratings and of centered places, from which all rounds are computed.

    `by_system` and `by_rater` are sums of places in the order of the ratings' sums, `products` that
    of places times centered ratings.
    """

    ratings: Sums
    by_system: Floats
    by_rater: Floats
    squares: float
    products: float

    def without(self, slope: float) -> Sums:
        """Return the sums of the ratings as they would be without this drift."""
        of = self.ratings
        return replace(
            of,
            by_system=of.by_system - slope * self.by_system,
            by_rater=of.by_rater - slope * self.by_rater,
            squares=of.squares - 2 * slope * self.products + slope**2 * self.squares,
        )

    def slope(self, ratio: float, residual: float) -> tuple[float, float] | None:
        """Return the slope and its standard error: place less what systems explain of it."""
        of = self.ratings
        shrink = ratio / (1 + ratio * of.pairs.sum(axis=0))
        information, weighted, _ = equations(of, ratio)
        across = self.by_system - of.pairs @ (shrink * self.by_rater)
        own = self.squares - float(shrink @ self.by_rater**2)
        explained = np.linalg.solve(information, across)
        gained = own - float(across @ explained)
        if gained <= 1e-9 * max(1.0, own):
            return None
        together = self.products - float(shrink @ (self.by_rater * of.by_rater))
        return (together - float(weighted @ explained)) / gained, residual / float(np.sqrt(gained))


def _question_rows(question: QuestionRatings) -> Iterator[dict[str, object]]:
    row: dict[str, object] = {**question.name, "system": ALL, "n": len(question.rows)}
    cells = invalid_rows.of_each(question.rows["place"], cell_values.number)
    if None in cells:
        yield {**row, "reason": NO_PLACE}
        return
    drift, total, se = _drift(question, np.array(cells, dtype=float)), 0.0, float("nan")
    for _ in range(ROUNDS):
        found = fit(drift.without(total))
        if found is None:
            yield {**row, "reason": NO_RESIDUAL}
            return
        slope = drift.slope((found.severity / found.residual) ** 2, found.residual)
        if slope is None:
            yield {**row, "reason": ONE_PLACE}
            return
        total, se = slope
    low, high = normal_interval(total, se)
    p = float(2 * special.ndtr(-abs(total) / se))
    yield {**row, "estimate": total, "low": low, "high": high, "se": se, "p": p}


def _drift(question: QuestionRatings, place: Floats) -> OrderSums:
    ratings, centered = sums(question), place - place.mean()
    system, names = pd.factorize(question.rows["system"], sort=True)
    rater = pd.factorize(question.rows["rater"], sort=True)[0]
    order = [list(map(str, names)).index(name) for name in ratings.systems]
    return OrderSums(
        ratings,
        np.bincount(system, centered)[order].astype(float),
        np.bincount(rater, centered).astype(float),
        float(centered @ centered),
        float(centered @ (question.values - ratings.center)),
    )
