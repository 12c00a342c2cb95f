"""Krippendorff's alpha (2011, Computing Krippendorff's Alpha-Reliability), with a bootstrap.

The level of measurement is the question's, or the one asked for. Gaps: an item counts with the
ratings that it has, two or more. The estimate is the `krippendorff` package's where that is quick;
for large tables, and for the bootstrap over items, it is the same formula over distinct patterns of
votes (`analysis.raters.alpha`), equal to 1e-12 and independent of the number of items.
"""

from __future__ import annotations

import krippendorff
import numpy as np
import pandas as pd

from analysis.raters import agreement
from analysis.raters.agreement import Statistic
from analysis.raters.alpha import alpha, alphas
from analysis.raters.votes import Votes
from analysis.scores.integer_codes import Scale, scale_of
from analysis.scores.question_ratings import QuestionRatings, questions
from analysis.tables.options import BadOption
from analysis.tables.schema import LEVELS, RatingTable
from analysis.tables.tidy import tidy

# The package builds a matrix of categories by categories for every item.
PACKAGE_CELLS = 1_000_000
READ_AS: dict[str, Scale] = {"ordinal": "ordinal", "interval": "interval", "ratio": "ratio"}


def krippendorff_alpha(
    ratings: RatingTable, *, seed: int = 0, alpha_level: str | None = None
) -> pd.DataFrame:
    """Return a row per question and system, and one for all systems, or the reason for none.

    `alpha_level` reads every question that is not nominal by another level than its own: ordinal,
    interval, or ratio, which no question declares. Raises `BadOption` for another level.
    """
    if alpha_level is not None and alpha_level not in READ_AS:
        raise BadOption("alpha_level", alpha_level, f"one of {', '.join(READ_AS)}")
    found = (
        {**row, "level": level}
        for question in questions(ratings, *LEVELS)
        for level in (_level(question, alpha_level),)
        for row in agreement.rows([question], _statistic, seed=seed, value=_estimate, level=level)
    )
    return tidy("krippendorff_alpha", found)


def _level(question: QuestionRatings, chosen: str | None) -> Scale:
    own = scale_of(question)
    return READ_AS[chosen] if chosen is not None and own != "nominal" else own


def _statistic(votes: Votes) -> Statistic | str:
    if votes.level == "ratio" and votes.values.min(initial=0) < 0:
        return (
            "there are answers below 0, which a ratio scale does not have; use the interval level"
        )
    return votes.undefined or alphas


def _estimate(votes: Votes) -> float:
    if votes.units * len(votes.values) ** 2 > PACKAGE_CELLS:
        return alpha(votes)
    counts = np.repeat(votes.counts.toarray(), votes.times.astype(int), axis=0)
    used = counts.any(axis=0)
    return float(
        krippendorff.alpha(
            value_counts=counts[:, used].astype(int),
            value_domain=votes.values[used],
            level_of_measurement=votes.level,
        )
    )
