"""Calibrated scores: annotator bias removed as ConvAI2 does it (Kulikov et al. 2018).

The published model with all SDs 1 (`analysis.scores.calibration`): posterior mean, SD and 95 %
interval of each system's score, on the question's own scale. `flat_mean` and `flat_sd` are the
closed form with a flat prior. A `note` warns where ratings spread far from the SD of 1 that the
model assumes.
"""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from analysis.scores import calibration
from analysis.scores.question_ratings import QuestionRatings, questions
from analysis.tables.schema import RatingTable
from analysis.tables.tidy import tidy


def calibrated_score(ratings: RatingTable, *, seed: int = 0) -> pd.DataFrame:
    """Return a row per ordinal or interval question and system."""
    rated = questions(ratings, "ordinal", "interval")
    return tidy("calibrated_score", (row for one in rated for row in _question_rows(one, seed)))


def _question_rows(question: QuestionRatings, seed: int) -> Iterator[dict[str, object]]:
    reason = calibration.undefined(question)
    if reason is not None:
        for system, rows in question.by_system():
            yield {**question.name, "system": system, "n": len(rows), "reason": reason}
        return
    found = calibration.posterior(question, seed=seed)
    note = calibration.unit_variance_note(question)
    for k, system in enumerate(found.sums.systems):
        low, high = found.interval(k)
        yield {
            **question.name,
            "system": system,
            "estimate": found.mean[k],
            "low": low,
            "high": high,
            "n": int(found.sums.n[k]),
            "sd": found.sd[k],
            "raw": found.sums.raw[k],
            "flat_mean": found.flat.mean[k],
            "flat_sd": found.flat.sd[k],
            **question.scale,
            "note": note,
            "reason": None,
        }
