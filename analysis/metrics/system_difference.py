"""Difference of two systems, with tests that it is chance and that it is negligible.

Difference and interval are those of a linear mixed model with a random effect of the rater (Searle
et al. 1992, ch. 6); `d` is Cohen's (1988); `p_holm` is Holm's (1979) over the pairs of a question;
`p_permutation` permutes systems within raters; `p_equivalent` tests that the difference lies within
±`margin` (Schuirmann 1987), by default a tenth of the scale.
"""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from analysis.scores.differences import differences, permutation_p, with_holm
from analysis.scores.question_ratings import QuestionRatings, questions
from analysis.tables.schema import RatingTable
from analysis.tables.tidy import tidy

MARGIN = 0.1


def system_difference(
    ratings: RatingTable, *, seed: int = 0, margin: float | None = None
) -> pd.DataFrame:
    """Return a row per question and pair; `margin` is in scale points."""
    rated = questions(ratings, "ordinal", "interval")
    return tidy(
        "system_difference", (row for one in rated for row in _question_rows(one, seed, margin))
    )


def _question_rows(
    question: QuestionRatings, seed: int, margin: float | None
) -> Iterator[dict[str, object]]:
    low_end, high_end = question.ends
    within = MARGIN * (high_end - low_end) if margin is None else margin
    for found, adjusted in with_holm(differences(question) or []):
        low, high = found.ends()
        yield {
            **question.name,
            "system": found.system,
            "other_system": found.other,
            "estimate": found.estimate,
            "low": low,
            "high": high,
            "n": found.n,
            "se": found.se,
            "df": found.df,
            "d": found.d,
            "p": found.p,
            "p_holm": adjusted,
            "p_permutation": permutation_p(question, found.system, found.other, seed=seed),
            "margin": within,
            "p_equivalent": found.p_equivalent(within),
        }
