"""Order effect: drift of answers with the position at which something was shown.

A linear model of system, place and a random effect of the rater, whose two variances are those that
restricted maximum likelihood gives once the drift is taken out (Searle et al. 1992, Variance
Components, ch. 6), and the slope by generalized least squares, in turn. The estimate is scale
points for each later place; `p` is two-sided, normal.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pandas as pd
from scipy import special

from analysis.scores.question_ratings import QuestionRatings, questions
from analysis.scores.severity import fit, sums
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


def _question_rows(question: QuestionRatings) -> Iterator[dict[str, object]]:
    row: dict[str, object] = {**question.name, "system": ALL, "n": len(question.rows)}
    if None in invalid_rows.of_each(question.rows["place"], cell_values.number):
        yield {**row, "reason": NO_PLACE}
        return
    total, se = 0.0, float("nan")
    for _ in range(ROUNDS):
        found = fit(sums(question))
        if found is None:
            yield {**row, "reason": NO_RESIDUAL}
            return
        slope = _slope(question, (found.severity / found.residual) ** 2, found.residual)
        if slope is None:
            yield {**row, "reason": ONE_PLACE}
            return
        total, se = total + slope[0], slope[1]
        question = _without(question, slope[0])
    low, high = normal_interval(total, se)
    p = float(2 * special.ndtr(-abs(total) / se))
    yield {**row, "estimate": total, "low": low, "high": high, "se": se, "p": p}


def _without(question: QuestionRatings, slope: float) -> QuestionRatings:
    """Return the answers as they would be without this drift."""
    place = question.rows["place"].astype(float)
    value = question.rows["value"].astype(float) - slope * (place - place.mean())
    return replace(question, rows=question.rows.assign(value=value))


def _slope(question: QuestionRatings, ratio: float, residual: float) -> tuple[float, float] | None:
    """Return the slope and its standard error: place less what systems explain of it."""
    place = question.rows["place"].to_numpy(dtype=float)
    system, rater = (
        pd.factorize(question.rows[name], sort=True)[0] for name in ("system", "rater")
    )
    dummies = np.eye(int(system.max()) + 1)[system]
    design = np.column_stack([dummies, place - place.mean()])
    weighted = _whitened(design, rater, ratio)
    information = design.T @ weighted
    gained = information[-1, -1] - information[-1, :-1] @ np.linalg.solve(
        information[:-1, :-1], information[:-1, -1]
    )
    if gained <= 1e-9 * max(1.0, float(information[-1, -1])):
        return None
    solved = np.linalg.solve(information, weighted.T @ question.values)
    return float(solved[-1]), float(residual / np.sqrt(gained))


def _whitened(design: Floats, rater: np.ndarray, ratio: float) -> Floats:
    """Return V⁻¹ times the design, in units of the residual variance."""
    counts = np.bincount(rater)
    shrink = ratio / (1 + ratio * counts)
    totals = np.column_stack([np.bincount(rater, column) for column in design.T])
    return np.asarray(design - (shrink[:, None] * totals)[rater], dtype=float)
