"""Rank probabilities of every system, from the joint distribution of their scores.

Scores are jointly Student's with the covariance and the degrees of freedom of the crossed model
(`system_score`; restricted maximum likelihood, Patterson & Thompson 1971); ranks are counted over
20,000 seeded draws, so a probability's Monte Carlo error is at most .004.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from analysis.scores.question_ratings import QuestionRatings, questions
from analysis.self_test.measured import SelfTest, tested
from analysis.tables.schema import RatingTable
from analysis.tables.tidy import tidy

NO_INTERVAL = "a probability; simulate --probabilities tells how often it is right"


def rank_probability(
    ratings: RatingTable,
    *,
    seed: int = 0,
    control: str | None = None,
    simulate: int = 0,
    cache: Path | None = None,
) -> pd.DataFrame:
    """Return a row per question, system and rank; rank 1 has the highest score, of no control."""
    rated = list(questions(ratings, "ordinal", "interval"))
    yes_no = sum(one.is_yes_no for one in questions(ratings, "nominal"))
    options = SelfTest(simulate, seed, control, len(rated) + yes_no, cache)
    return tidy("rank_probability", (row for one in rated for row in _question_rows(one, options)))


def _question_rows(question: QuestionRatings, options: SelfTest) -> Iterator[dict[str, object]]:
    found = tested(question, options).scores
    shares = found.rank_shares(options.seed)
    if shares is None:
        return
    for system, row in zip(found.ranked, shares, strict=True):
        for rank, share in enumerate(row, start=1):
            yield {
                **question.name,
                "system": system,
                "estimate": share,
                "n": int(found.n[found.systems.index(system)]),
                "rank": rank,
            }
