"""Calibrated scores with variances learned from the ratings: rater severity removed.

For scales on which SDs of 1 (`calibrated_score`) are wrong, such as 0 to 100: the same linear model
with a flat prior on scores, its two variances by restricted maximum likelihood (Patterson &
Thompson 1971, Biometrika 58; `analysis.scores.severity`), and the scores in closed form given
these. The interval is Student's t, with the degrees of freedom that estimated variances leave
(`analysis.scores.satterthwaite`).
"""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from analysis.scores.question_ratings import QuestionRatings, questions
from analysis.scores.satterthwaite import freedom
from analysis.scores.severity import fit, sums
from analysis.stats.intervals import t_interval
from analysis.tables.schema import RatingTable
from analysis.tables.tidy import tidy

NO_RESIDUAL = "no variance is left within systems, so variances cannot be estimated"
NOT_SEPARABLE = "no rater gave two ratings: severity cannot be separated from noise"


def calibrated_score_learned(ratings: RatingTable) -> pd.DataFrame:
    """Return a row per ordinal or interval question and system."""
    rated = questions(ratings, "ordinal", "interval")
    return tidy("calibrated_score_learned", (row for one in rated for row in _question_rows(one)))


def _question_rows(question: QuestionRatings) -> Iterator[dict[str, object]]:
    totals = sums(question)
    fitted = fit(totals)
    free = None if fitted is None else freedom(totals, fitted)
    for k, system in enumerate(totals.systems):
        row: dict[str, object] = {**question.name, "system": system, "n": int(totals.n[k])}
        row.update(raw=totals.raw[k], reason=NO_RESIDUAL)
        if fitted is not None and free is not None:
            mean, sd = float(fitted.scores.mean[k]), float(fitted.scores.sd[k])
            low, high = t_interval(mean, sd, float(free[k]))
            row.update(estimate=mean, low=low, high=high, sd=sd, df=float(free[k]), reason=None)
            row.update(severity_sd=fitted.severity, residual_sd=fitted.residual)
            row["note"] = None if fitted.separable else NOT_SEPARABLE
        yield row
