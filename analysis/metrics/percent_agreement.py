"""Percent agreement: the mean over items of the share of rater pairs that gave the same answer.

MEENA (Adiwardana et al. 2020, table 1) prints it without a definition; this is the observed
agreement of Fleiss 1971 (Psychological Bulletin 76, 378-382), with a bootstrap over items. Gaps:
an item counts with the ratings that it has, two or more; items with one are left out.
"""

from __future__ import annotations

import pandas as pd

from analysis.raters import agreement, kappas
from analysis.raters.agreement import Statistic
from analysis.raters.votes import Votes
from analysis.scores.question_ratings import questions
from analysis.tables.schema import LEVELS, RatingTable
from analysis.tables.tidy import tidy


def percent_agreement(ratings: RatingTable, *, seed: int = 0) -> pd.DataFrame:
    """Return a row per question and system, and one for all systems; a fraction, not percent."""
    rated = questions(ratings, *LEVELS)
    return tidy("percent_agreement", agreement.rows(rated, _statistic, seed=seed))


def _statistic(votes: Votes) -> Statistic | str:
    # The only reason for which agreement that is not corrected for chance is undefined.
    return kappas.percents if votes.units else str(votes.undefined)
