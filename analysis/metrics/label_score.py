"""Label score: share of yes, with the effects of rater, message and conversation removed.

A logistic model with random effects of the rater, of the message judged (where several raters
judged it) and of the conversation, the case of two answers of a cumulative link model (Agresti
2010, section 10.1; `analysis.scores.cumulative_link`). The estimate is the share that new raters
would give to new messages. Kulikov et al. 2018 name a binary variant whose details could not be
verified, so this is not that one.
"""

from __future__ import annotations

import pandas as pd

from analysis.scores.latent import rows_of
from analysis.scores.question_ratings import questions
from analysis.tables.schema import RatingTable
from analysis.tables.tidy import tidy


def label_score(ratings: RatingTable) -> pd.DataFrame:
    """Return a row per yes/no question and system."""
    rated = (one for one in questions(ratings, "nominal") if one.is_yes_no)
    return tidy("label_score", (row for one in rated for row in rows_of(one)))
