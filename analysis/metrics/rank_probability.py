"""The probability of every rank of every system, from the joint posterior of their scores.

Scores are jointly normal with the variances learned from the ratings, as in
`calibrated_score_learned` (restricted maximum likelihood, Patterson & Thompson 1971); ranks are
counted over 20,000 seeded draws, so a probability's Monte Carlo error is at most .004.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from analysis.groups import Asked, questions
from analysis.severity import fit, sums
from analysis.tables import RatingTable
from analysis.tidy import tidy

DRAWS = 20_000


def rank_probability(ratings: RatingTable, *, seed: int = 0) -> pd.DataFrame:
    """Return a row per question, system and rank; rank 1 has the highest score."""
    asked = questions(ratings, "ordinal", "interval")
    return tidy("rank_probability", (row for one in asked for row in _rows(one, seed)))


def _rows(asked: Asked, seed: int) -> Iterator[dict[str, object]]:
    given = sums(asked)
    fitted = fit(given)
    if fitted is None:
        return
    chance = np.random.default_rng(seed)
    root = np.linalg.cholesky(fitted.scores.covariance)
    drawn = fitted.scores.mean + chance.standard_normal((DRAWS, len(given.systems))) @ root.T
    ranks = (-drawn).argsort(axis=1).argsort(axis=1)
    for k, system in enumerate(given.systems):
        shares = np.bincount(ranks[:, k], minlength=len(given.systems)) / DRAWS
        for rank, share in enumerate(shares, start=1):
            yield {
                **asked.name,
                "system": system,
                "estimate": share,
                "n": int(given.n[k]),
                "rank": rank,
            }
