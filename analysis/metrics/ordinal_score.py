"""Scores from ordered answers, with each rater's severity removed, no distances assumed.

A cumulative link model with random effects of raters, of items that several raters judged, and of
conversations where the table names them (McCullagh 1980, JRSS B 42; Agresti 2010, section 10.1;
`analysis.scores.cumulative_link`). The estimate is the mean answer that a new rater would give.
"""

from __future__ import annotations

import pandas as pd

from analysis.scores.latent import rows_of
from analysis.scores.question_ratings import questions
from analysis.tables.schema import RatingTable
from analysis.tables.tidy import tidy


def ordinal_score(ratings: RatingTable) -> pd.DataFrame:
    """Return a row per ordinal question and system."""
    rated = questions(ratings, "ordinal")
    return tidy("ordinal_score", (row for one in rated for row in rows_of(one)))
