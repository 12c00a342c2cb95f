"""Fleiss' kappa of items with unequal numbers of ratings (Gwet 2014, Handbook, 4th ed., eq. 2.11).

Gaps: agreement is the mean over items with two ratings or more; the share of each category is the
mean over all rated items of its share there. Rows only where Fleiss' own form (1971), which is the
same where numbers are equal, is not defined. The interval is a bootstrap over items.
"""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from analysis import agreement, kappas
from analysis.agreement import Statistic
from analysis.groups import questions
from analysis.tables import RatingTable
from analysis.tidy import tidy
from analysis.votes import Votes

EQUAL = "every item has the same number of ratings"


def fleiss_kappa_generalized(ratings: RatingTable, *, seed: int = 0) -> pd.DataFrame:
    """Return a row per nominal or ordinal question and system, and one for all systems."""
    return tidy("fleiss_kappa_generalized", _rows(ratings, seed))


def _rows(ratings: RatingTable, seed: int) -> Iterator[dict[str, object]]:
    asked = questions(ratings, "nominal", "ordinal")
    for row in agreement.rows(asked, _statistic, seed=seed):
        if row["reason"] != EQUAL:
            yield row


def _statistic(given: Votes) -> Statistic | str:
    return given.undefined or (kappas.fleiss if given.unequal else EQUAL)
