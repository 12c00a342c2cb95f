"""Log-abilities of systems from comparisons of two, ties half a win for each.

Bradley & Terry 1952 (Biometrika 39), around a mean of 0, with the advantage of what was shown first
where places differ (Davidson & Beaver 1977); `analysis.comparisons.bradley_terry`. Intervals are a
percentile bootstrap over raters, `se` is that of the information. `share` is the ability on a scale
on which all add up to 1.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from analysis.comparisons import bradley_terry as model
from analysis.comparisons.preferences import Compared, compared, resampled
from analysis.scores.question_ratings import QuestionRatings, questions
from analysis.stats.intervals import NONE, Floats, Interval, percentile_interval
from analysis.tables.schema import RatingTable
from analysis.tables.tidy import tidy

REFITS = 400
FEW = "too few resamples of raters have finite abilities for an interval"


def bradley_terry(ratings: RatingTable, *, seed: int = 0) -> pd.DataFrame:
    """Return a row per question of ranks and system."""
    rated = questions(ratings, "rank")
    return tidy("bradley_terry", (row for one in rated for row in _question_rows(one, seed)))


def _question_rows(question: QuestionRatings, seed: int) -> Iterator[dict[str, object]]:
    found = compared(question)
    if found is None:
        return
    counts = found.counts()
    met = counts.wins.sum(axis=0) + counts.wins.sum(axis=1)
    reason = model.undefined(counts)
    if reason is not None:
        for k, system in enumerate(found.systems):
            yield {**question.name, "system": system, "n": int(met[k]), "reason": reason}
        return
    order = _ordered(question)
    fitted = model.fit(counts.halved(), order=order)
    ends = _intervals(found, fitted.mean, order, seed)
    for k, system in enumerate(found.systems):
        yield {
            **question.name,
            "system": system,
            "estimate": float(fitted.mean[k]),
            "low": ends[k].low,
            "high": ends[k].high,
            "n": int(met[k]),
            "se": float(np.sqrt(max(fitted.covariance[k, k], 0.0))),
            "share": float(fitted.shares[k]),
            "shown_first": fitted.first,
            "shown_first_se": fitted.first_se,
            "reason": FEW if ends[k] == NONE else None,
        }


def _ordered(question: QuestionRatings) -> bool:
    """Tell whether systems were shown at different places, and not each always at one."""
    shown_at = question.rows.groupby("system")["place"].nunique()
    return bool((shown_at > 1).any())


def _intervals(found: Compared, start: Floats, order: bool, seed: int) -> list[Interval]:
    pieces = []
    cells = len(found.systems) ** 2
    for weights in resampled(found.raters, REFITS, seed=seed, cells=cells):
        counts = found.of_resamples(weights).halved()
        counts = counts.some(model.finite(counts))
        pieces.append(model.fit_all(counts, order=order, start=start))
    drawn = np.concatenate(pieces)
    if len(drawn) < REFITS / 2 or found.raters < 2:
        return [NONE] * len(found.systems)
    return [percentile_interval(column, found.raters) for column in drawn.T]
