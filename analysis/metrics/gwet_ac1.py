"""Gwet's AC1 (2008, British Journal of Mathematical and Statistical Psychology 61, 29-48).

Chance agreement is that of hard items only, so AC1 stays near the agreement seen where one category
is common and kappas fall. Gaps: as in Gwet 2014 (Handbook, 4th ed., chapter 5), agreement is over
items with two ratings or more, shares of categories over all rated items. Categories are those
given to the question in any system. The interval is a bootstrap over items.
"""

from __future__ import annotations

import pandas as pd

from analysis.raters import agreement, kappas
from analysis.raters.agreement import Statistic
from analysis.raters.votes import Votes
from analysis.scores.question_ratings import questions
from analysis.tables.schema import RatingTable
from analysis.tables.tidy import tidy


def gwet_ac1(ratings: RatingTable, *, seed: int = 0) -> pd.DataFrame:
    """Return a row per nominal question and system, and one for all systems."""
    rated = questions(ratings, "nominal")
    return tidy("gwet_ac1", agreement.rows(rated, _statistic, seed=seed))


def _statistic(votes: Votes) -> Statistic | str:
    return kappas.no_chance(votes) or kappas.gwet
