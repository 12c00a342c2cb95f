"""Krippendorff's alpha (2011, Computing Krippendorff's Alpha-Reliability), with a bootstrap.

The level of measurement is the question's. The estimate is the `krippendorff` package's; the
interval is a percentile bootstrap over items, computed by the same formula in one product.
"""

from __future__ import annotations

from collections.abc import Iterator

import krippendorff
import numpy as np
import pandas as pd

from analysis import agreement
from analysis.agreement import Votes
from analysis.groups import Asked, questions
from analysis.tables import LEVELS, RatingTable
from analysis.tidy import tidy

# The package builds a matrix of categories by categories for every item.
PACKAGE_CELLS = 20_000_000


def krippendorff_alpha(ratings: RatingTable, *, seed: int = 0) -> pd.DataFrame:
    """Return a row per question and system, and one for all systems, or the reason for none."""
    rows = (row for asked in questions(ratings, *LEVELS) for row in _rows(asked, seed))
    return tidy("krippendorff_alpha", rows)


def _rows(asked: Asked, seed: int) -> Iterator[dict[str, object]]:
    for system, votes in agreement.parts(asked):
        row: dict[str, object] = {**asked.name, "system": system, "n": votes.units}
        row.update(level=asked.level, reason=votes.undefined)
        if votes.undefined is None:
            low, high = agreement.interval(votes, agreement.alphas, seed=seed)
            row.update(estimate=_estimate(votes), low=low, high=high)
        yield row


def _estimate(votes: Votes) -> float:
    if votes.counts.size * len(votes.values) > PACKAGE_CELLS:
        return float(agreement.alphas(votes, np.ones((1, votes.units)))[0])
    return float(
        krippendorff.alpha(
            value_counts=votes.counts.astype(int),
            value_domain=votes.values,
            level_of_measurement=votes.level,
        )
    )
