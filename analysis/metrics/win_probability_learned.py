"""P(M_a > M_b) where the variances are learned from the ratings.

From the normal distribution of `calibrated_score_learned` (restricted maximum likelihood, Patterson
& Thompson 1971), for every ordered pair; for scales on which SDs of 1 are wrong.
"""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from analysis.calibration import win_matrix
from analysis.groups import Asked, questions
from analysis.severity import fit, sums
from analysis.tables import RatingTable
from analysis.tidy import tidy


def win_probability_learned(ratings: RatingTable) -> pd.DataFrame:
    """Return a row per question and ordered pair: `system` beats `other_system`."""
    asked = questions(ratings, "ordinal", "interval")
    return tidy("win_probability_learned", (row for one in asked for row in _rows(one)))


def _rows(asked: Asked) -> Iterator[dict[str, object]]:
    given = sums(asked)
    fitted = fit(given)
    if fitted is None:
        return
    wins = win_matrix(fitted.scores)
    for a, system in enumerate(given.systems):
        for b, other in enumerate(given.systems):
            if a != b:
                yield {
                    **asked.name,
                    "system": system,
                    "other_system": other,
                    "estimate": wins[a, b],
                    "n": int(given.n[a] + given.n[b]),
                }
