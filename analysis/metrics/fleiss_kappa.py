"""Fleiss' kappa (1971, Psychological Bulletin 76, 378-382), with a bootstrap over items.

Gaps: none, as in the paper; every item needs the same number of ratings, and where it has not,
`fleiss_kappa_generalized` is the coefficient to read. Categories have no order, so questions with
an interval level are left to Krippendorff's alpha.
"""

from __future__ import annotations

import pandas as pd

from analysis.raters import agreement, kappas
from analysis.raters.agreement import Statistic
from analysis.raters.votes import Votes
from analysis.scores.question_ratings import questions
from analysis.tables.schema import RatingTable
from analysis.tables.tidy import tidy


def fleiss_kappa(ratings: RatingTable, *, seed: int = 0) -> pd.DataFrame:
    """Return a row per nominal or ordinal question and system, and one for all systems."""
    rated = questions(ratings, "nominal", "ordinal")
    return tidy("fleiss_kappa", agreement.rows(rated, _statistic, seed=seed))


def _statistic(votes: Votes) -> Statistic | str:
    return votes.undefined or votes.unequal or kappas.fleiss
