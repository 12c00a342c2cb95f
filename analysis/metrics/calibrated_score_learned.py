"""Scores with rater severity removed, the variances learned from the ratings.

For scales on which SDs of 1 (`calibrated_score`) are wrong, such as 0 to 100: the same linear
model with a flat prior on scores, its two variances by restricted maximum likelihood
(Patterson & Thompson 1971, Biometrika 58; `analysis.severity`), and the scores in closed form
given these. The interval is Student's t, with the degrees of freedom that estimated variances leave
(`analysis.freedom`).
"""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from analysis.freedom import freedom
from analysis.groups import Asked, questions
from analysis.intervals import t_interval
from analysis.severity import fit, sums
from analysis.tables import RatingTable
from analysis.tidy import tidy

NO_RESIDUAL = "no spread is left within systems, so variances cannot be learned"
NOT_SEPARABLE = "no rater gave two ratings: severity cannot be told from noise"


def calibrated_score_learned(ratings: RatingTable) -> pd.DataFrame:
    """Return a row per ordinal or interval question and system."""
    asked = questions(ratings, "ordinal", "interval")
    return tidy("calibrated_score_learned", (row for one in asked for row in _rows(one)))


def _rows(asked: Asked) -> Iterator[dict[str, object]]:
    given = sums(asked)
    fitted = fit(given)
    free = None if fitted is None else freedom(given, fitted)
    for k, system in enumerate(given.systems):
        row: dict[str, object] = {**asked.name, "system": system, "n": int(given.n[k])}
        row.update(raw=given.raw[k], reason=NO_RESIDUAL)
        if fitted is not None and free is not None:
            mean, sd = float(fitted.scores.mean[k]), float(fitted.scores.sd[k])
            low, high = t_interval(mean, sd, float(free[k]))
            row.update(estimate=mean, low=low, high=high, sd=sd, df=float(free[k]), reason=None)
            row.update(severity_sd=fitted.severity, residual_sd=fitted.residual)
            row["note"] = None if fitted.separable else NOT_SEPARABLE
        yield row
