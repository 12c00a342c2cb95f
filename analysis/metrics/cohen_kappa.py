"""Cohen's kappa (1960, Educational and Psychological Measurement 20, 37-46).

Of the two raters; of more, the mean over pairs of raters (Light 1971, Psychological Bulletin 76,
365-377). Gaps: a pair is compared on the items that both judged; pairs with fewer than two of these
or with one answer only are left out, and `pairs` and `pairs_used` say how many there were. The
interval is a BCa bootstrap over items where these are few (400), else t by the large-sample
standard error of Fleiss, Cohen & Everitt 1969 (Psychological Bulletin 72, 323-327), for several
pairs by the same delta method over items.
"""

from __future__ import annotations

import pandas as pd

from analysis.raters.cohen import cohen_rows
from analysis.scores.question_ratings import questions
from analysis.tables.schema import RatingTable
from analysis.tables.tidy import tidy


def cohen_kappa(ratings: RatingTable, *, seed: int = 0) -> pd.DataFrame:
    """Return a row per system of a nominal or ordinal question, and one for all systems."""
    rated = questions(ratings, "nominal", "ordinal")
    return tidy("cohen_kappa", cohen_rows(rated, "identity", seed=seed))
