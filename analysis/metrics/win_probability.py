"""P(M_a > M_b): the probability that one system's calibrated score is above another's.

From the posterior of `calibrated_score` (Kulikov et al. 2018), for every ordered pair.
"""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from analysis.scores import calibration
from analysis.scores.question_ratings import QuestionRatings, questions
from analysis.tables.schema import RatingTable
from analysis.tables.tidy import tidy

NO_INTERVAL = "a probability; simulate --probabilities tells how often it is right"


def win_probability(ratings: RatingTable, *, seed: int = 0) -> pd.DataFrame:
    """Return a row per question and ordered pair: `system` beats `other_system`."""
    rated = questions(ratings, "ordinal", "interval")
    return tidy("win_probability", (row for one in rated for row in _question_rows(one, seed)))


def _question_rows(question: QuestionRatings, seed: int) -> Iterator[dict[str, object]]:
    if calibration.undefined(question) is not None:
        return
    found = calibration.posterior(question, seed=seed)
    note = calibration.unit_variance_note(question)
    names = found.sums.systems
    for a, system in enumerate(names):
        for b, other in enumerate(names):
            if a != b:
                yield {
                    **question.name,
                    "system": system,
                    "other_system": other,
                    "estimate": found.wins[a, b],
                    "n": int(found.sums.n[a] + found.sums.n[b]),
                    **question.scale,
                    "note": note,
                }
