"""P(M_a > M_b) where the variances are learned from the ratings.

From the normal distribution of `calibrated_score_learned` (restricted maximum likelihood, Patterson
& Thompson 1971), for every ordered pair; for scales on which SDs of 1 are wrong.
"""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from analysis.scores.calibration import win_matrix
from analysis.scores.question_ratings import QuestionRatings, questions
from analysis.scores.severity import fit, sums
from analysis.tables.schema import RatingTable
from analysis.tables.tidy import tidy

NO_INTERVAL = "a probability; simulate --probabilities tells how often it is right"


def win_probability_learned(ratings: RatingTable) -> pd.DataFrame:
    """Return a row per question and ordered pair: `system` beats `other_system`."""
    rated = questions(ratings, "ordinal", "interval")
    return tidy("win_probability_learned", (row for one in rated for row in _question_rows(one)))


def _question_rows(question: QuestionRatings) -> Iterator[dict[str, object]]:
    totals = sums(question)
    fitted = fit(totals)
    if fitted is None:
        return
    wins = win_matrix(fitted.scores)
    for a, system in enumerate(totals.systems):
        for b, other in enumerate(totals.systems):
            if a != b:
                yield {
                    **question.name,
                    "system": system,
                    "other_system": other,
                    "estimate": wins[a, b],
                    "n": int(totals.n[a] + totals.n[b]),
                }
