"""Fleiss' kappa of items with unequal numbers of ratings (Gwet 2014, Handbook, 4th ed., eq. 2.11).

Gaps: agreement is the mean over items with two ratings or more; the share of each category is the
mean over all rated items of its share there. Rows only where Fleiss' own form (1971), which is the
same where numbers are equal, is not defined. The interval is a bootstrap over items.
"""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from analysis.raters import agreement, kappas
from analysis.raters.agreement import Statistic
from analysis.raters.votes import Votes
from analysis.scores.question_ratings import questions
from analysis.tables.schema import RatingTable
from analysis.tables.tidy import tidy

EQUAL = "every item has the same number of ratings"


def fleiss_kappa_generalized(ratings: RatingTable, *, seed: int = 0) -> pd.DataFrame:
    """Return a row per nominal or ordinal question and system, and one for all systems."""
    return tidy("fleiss_kappa_generalized", _rating_rows(ratings, seed))


def _rating_rows(ratings: RatingTable, seed: int) -> Iterator[dict[str, object]]:
    rated = questions(ratings, "nominal", "ordinal")
    for row in agreement.rows(rated, _statistic, seed=seed):
        if row["reason"] != EQUAL:
            yield row


def _statistic(votes: Votes) -> Statistic | str:
    return votes.undefined or (kappas.fleiss if votes.unequal else EQUAL)
