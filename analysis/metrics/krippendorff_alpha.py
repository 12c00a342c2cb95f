"""Krippendorff's alpha (2011, Computing Krippendorff's Alpha-Reliability), with a bootstrap.

The level of measurement is the question's, or the one asked for. Gaps: an item counts with the
ratings that it has, two or more. The estimate is the `krippendorff` package's where that is quick;
for large tables, and for the bootstrap over items, it is the same formula over distinct patterns of
votes (`analysis.alpha`), equal to 1e-12 and independent of the number of items.
"""

from __future__ import annotations

import krippendorff
import numpy as np
import pandas as pd

from analysis import agreement
from analysis.agreement import Statistic
from analysis.alpha import alpha, alphas
from analysis.coding import Scale, scale_of
from analysis.groups import Asked, questions
from analysis.options import BadOption
from analysis.tables import LEVELS, RatingTable
from analysis.tidy import tidy
from analysis.votes import Votes

# The package builds a matrix of categories by categories for every item.
PACKAGE_CELLS = 1_000_000
READ_AS: dict[str, Scale] = {"ordinal": "ordinal", "interval": "interval", "ratio": "ratio"}


def krippendorff_alpha(
    ratings: RatingTable, *, seed: int = 0, alpha_level: str | None = None
) -> pd.DataFrame:
    """Return a row per question and system, and one for all systems, or the reason for none.

    `alpha_level` reads every question that is not nominal by another level than its own: ordinal,
    interval, or ratio, which no question declares.
    """
    if alpha_level is not None and alpha_level not in READ_AS:
        raise BadOption("alpha_level", alpha_level, f"one of {', '.join(READ_AS)}")
    found = (
        {**row, "level": level}
        for asked in questions(ratings, *LEVELS)
        for level in (_level(asked, alpha_level),)
        for row in agreement.rows([asked], _statistic, seed=seed, value=_estimate, level=level)
    )
    return tidy("krippendorff_alpha", found)


def _level(asked: Asked, chosen: str | None) -> Scale:
    own = scale_of(asked)
    return READ_AS[chosen] if chosen is not None and own != "nominal" else own


def _statistic(given: Votes) -> Statistic | str:
    if given.level == "ratio" and given.values.min(initial=0) < 0:
        return "there are answers below 0, and a ratio scale has none; read it as interval"
    return given.undefined or alphas


def _estimate(given: Votes) -> float:
    if given.units * len(given.values) ** 2 > PACKAGE_CELLS:
        return alpha(given)
    counts = np.repeat(given.counts.toarray(), given.times.astype(int), axis=0)
    used = counts.any(axis=0)
    return float(
        krippendorff.alpha(
            value_counts=counts[:, used].astype(int),
            value_domain=given.values[used],
            level_of_measurement=given.level,
        )
    )
