"""Rank probabilities of every system, from the joint posterior of their scores.

Scores are jointly normal with the variances learned from the ratings, as in
`calibrated_score_learned` (restricted maximum likelihood, Patterson & Thompson 1971); ranks are
counted over 20,000 seeded draws, so a probability's Monte Carlo error is at most .004.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from analysis.scores.question_ratings import QuestionRatings, questions
from analysis.scores.severity import fit, sums
from analysis.tables.schema import RatingTable
from analysis.tables.tidy import tidy

NO_INTERVAL = "a probability; simulate --probabilities tells how often it is right"

DRAWS = 20_000


def rank_probability(ratings: RatingTable, *, seed: int = 0) -> pd.DataFrame:
    """Return a row per question, system and rank; rank 1 has the highest score."""
    rated = questions(ratings, "ordinal", "interval")
    return tidy("rank_probability", (row for one in rated for row in _question_rows(one, seed)))


def _question_rows(question: QuestionRatings, seed: int) -> Iterator[dict[str, object]]:
    totals = sums(question)
    fitted = fit(totals)
    if fitted is None:
        return
    chance = np.random.default_rng(seed)
    root = np.linalg.cholesky(fitted.scores.covariance)
    drawn = fitted.scores.mean + chance.standard_normal((DRAWS, len(totals.systems))) @ root.T
    ranks = (-drawn).argsort(axis=1).argsort(axis=1)
    for k, system in enumerate(totals.systems):
        shares = np.bincount(ranks[:, k], minlength=len(totals.systems)) / DRAWS
        for rank, share in enumerate(shares, start=1):
            yield {
                **question.name,
                "system": system,
                "estimate": share,
                "n": int(totals.n[k]),
                "rank": rank,
            }
