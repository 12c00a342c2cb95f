"""Whether answers drift with the place at which something was shown.

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

from analysis import cells, suspects
from analysis.groups import Asked, questions
from analysis.intervals import Floats, normal_interval
from analysis.severity import fit, sums
from analysis.tables import RatingTable
from analysis.tidy import ALL, tidy

ROUNDS = 3
NO_RESIDUAL = "no spread is left within systems, so an effect cannot be told from chance"
NO_PLACE = "no place is told for some ratings, so they have no order"
ONE_PLACE = "everything was shown at one place, or place goes with system"


def order_effect(ratings: RatingTable) -> pd.DataFrame:
    """Return a row per ordinal or interval question: the slope over places."""
    asked = questions(ratings, "ordinal", "interval")
    return tidy("order_effect", (row for one in asked for row in _rows(one)))


def _rows(asked: Asked) -> Iterator[dict[str, object]]:
    row: dict[str, object] = {**asked.name, "system": ALL, "n": len(asked.rows)}
    if None in suspects.of_each(asked.rows["place"], cells.number):
        yield {**row, "reason": NO_PLACE}
        return
    total, se = 0.0, float("nan")
    for _ in range(ROUNDS):
        found = fit(sums(asked))
        if found is None:
            yield {**row, "reason": NO_RESIDUAL}
            return
        slope = _slope(asked, (found.severity / found.residual) ** 2, found.residual)
        if slope is None:
            yield {**row, "reason": ONE_PLACE}
            return
        total, se = total + slope[0], slope[1]
        asked = _without(asked, slope[0])
    low, high = normal_interval(total, se)
    p = float(2 * special.ndtr(-abs(total) / se))
    yield {**row, "estimate": total, "low": low, "high": high, "se": se, "p": p}


def _without(asked: Asked, slope: float) -> Asked:
    """Return the answers as they would be without this drift."""
    place = asked.rows["place"].astype(float)
    value = asked.rows["value"].astype(float) - slope * (place - place.mean())
    return replace(asked, rows=asked.rows.assign(value=value))


def _slope(asked: Asked, ratio: float, residual: float) -> tuple[float, float] | None:
    """Return the slope and its standard error: place less what systems explain of it."""
    place = asked.rows["place"].to_numpy(dtype=float)
    system, rater = (pd.factorize(asked.rows[name], sort=True)[0] for name in ("system", "rater"))
    dummies = np.eye(int(system.max()) + 1)[system]
    design = np.column_stack([dummies, place - place.mean()])
    weighted = _whitened(design, rater, ratio)
    information = design.T @ weighted
    gained = information[-1, -1] - information[-1, :-1] @ np.linalg.solve(
        information[:-1, :-1], information[:-1, -1]
    )
    if gained <= 1e-9 * max(1.0, float(information[-1, -1])):
        return None
    solved = np.linalg.solve(information, weighted.T @ asked.values)
    return float(solved[-1]), float(residual / np.sqrt(gained))


def _whitened(design: Floats, rater: np.ndarray, ratio: float) -> Floats:
    """Return V⁻¹ times the design, in units of the residual variance."""
    counts = np.bincount(rater)
    shrink = ratio / (1 + ratio * counts)
    totals = np.column_stack([np.bincount(rater, column) for column in design.T])
    return np.asarray(design - (shrink[:, None] * totals)[rater], dtype=float)
