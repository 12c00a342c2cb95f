"""Percent agreement: the mean over items of the share of rater pairs that gave the same answer.

MEENA (Adiwardana et al. 2020, table 1) prints it without a definition; this is the observed
agreement of Fleiss 1971 (Psychological Bulletin 76, 378-382), with a bootstrap over items.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from analysis import agreement
from analysis.agreement import Votes
from analysis.groups import Asked, questions
from analysis.intervals import Floats
from analysis.tables import LEVELS, RatingTable
from analysis.tidy import tidy


def percent_agreement(ratings: RatingTable, *, seed: int = 0) -> pd.DataFrame:
    """Return a row per question and system, and one for all systems; a fraction, not percent."""
    rows = (row for asked in questions(ratings, *LEVELS) for row in _rows(asked, seed))
    return tidy("percent_agreement", rows)


def _rows(asked: Asked, seed: int) -> Iterator[dict[str, object]]:
    for system, votes in agreement.parts(asked):
        row: dict[str, object] = {**asked.name, "system": system, "n": votes.units, "reason": None}
        if votes.units == 0:
            row["reason"] = votes.undefined
        else:
            low, high = agreement.interval(votes, _means, seed=seed)
            row.update(estimate=agreement.agreements(votes).mean(), low=low, high=high)
        yield row


def _means(votes: Votes, drawn: Floats) -> Floats:
    return np.asarray(drawn @ agreement.agreements(votes) / drawn.sum(axis=1))
