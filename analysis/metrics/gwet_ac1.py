"""Gwet's AC1 (2008, British Journal of Mathematical and Statistical Psychology 61, 29-48).

Chance agreement is that of hard items only, so AC1 stays near the agreement seen where one category
is common and kappas fall. Gaps: as in Gwet 2014 (Handbook, 4th ed., chapter 5), agreement is over
items with two ratings or more, shares of categories over all rated items. Categories are those
given to the question in any system. The interval is a bootstrap over items.
"""

from __future__ import annotations

import pandas as pd

from analysis import agreement, kappas
from analysis.agreement import Statistic
from analysis.groups import questions
from analysis.tables import RatingTable
from analysis.tidy import tidy
from analysis.votes import Votes


def gwet_ac1(ratings: RatingTable, *, seed: int = 0) -> pd.DataFrame:
    """Return a row per nominal question and system, and one for all systems."""
    asked = questions(ratings, "nominal")
    return tidy("gwet_ac1", agreement.rows(asked, _statistic, seed=seed))


def _statistic(given: Votes) -> Statistic | str:
    return kappas.no_chance(given) or kappas.gwet
