"""Fleiss' kappa (1971, Psychological Bulletin 76, 378-382), with a bootstrap over items.

Gaps: none, as in the paper; every item needs the same number of ratings, and where it has not,
`fleiss_kappa_generalized` is the coefficient to read. Categories have no order, so questions with
an interval level are left to Krippendorff's alpha.
"""

from __future__ import annotations

import pandas as pd

from analysis import agreement, kappas
from analysis.agreement import Statistic
from analysis.groups import questions
from analysis.tables import RatingTable
from analysis.tidy import tidy
from analysis.votes import Votes


def fleiss_kappa(ratings: RatingTable, *, seed: int = 0) -> pd.DataFrame:
    """Return a row per nominal or ordinal question and system, and one for all systems."""
    asked = questions(ratings, "nominal", "ordinal")
    return tidy("fleiss_kappa", agreement.rows(asked, _statistic, seed=seed))


def _statistic(given: Votes) -> Statistic | str:
    return given.undefined or given.unequal or kappas.fleiss
