"""Cohen's kappa with linear weights (1968, Psychological Bulletin 70, 213-220).

An answer that is near counts in part: 1 less the distance as a share of the scale. More than two
raters, gaps and the interval are as in `cohen_kappa`: the mean over pairs of raters (Light 1971),
each on the items that both judged.
"""

from __future__ import annotations

import pandas as pd

from analysis.raters.cohen import cohen_rows
from analysis.scores.question_ratings import questions
from analysis.tables.schema import RatingTable
from analysis.tables.tidy import tidy


def cohen_kappa_linear(ratings: RatingTable, *, seed: int = 0) -> pd.DataFrame:
    """Return a row per system of an ordinal question, and one for all systems."""
    rated = questions(ratings, "ordinal")
    return tidy("cohen_kappa_linear", cohen_rows(rated, "linear", seed=seed))
