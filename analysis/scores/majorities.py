"""Majorities of votes: an item is decided by all the votes asked for, and never by a tie.

MEENA (Adiwardana et al. 2020, section 2.1) gives each item to five raters. With fewer votes an item
stays open, also where those that are in could not be outvoted any more. A table says in its column
`votes` how many are asked for, item by item. Whatever decides items by votes asks here. Means,
shares, agreement and models of raters (likert, label_score, alpha, Fleiss' kappa, disputed items,
Dawid & Skene, MACE) decide no item, so they read every vote that there is.
"""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from analysis.tables.schema import VOTES_COLUMN


def votes_wanted(rows: pd.DataFrame, keys: Sequence[str], otherwise: int) -> pd.Series:
    """Return how many votes each item was to get; `otherwise` where the table does not say."""
    names = list(keys)
    if VOTES_COLUMN not in rows:
        return rows.groupby(names).size().clip(otherwise, otherwise)
    wanted: pd.Series = rows.groupby(names)[VOTES_COLUMN].max()
    return wanted.astype(float).fillna(otherwise).astype("int64")


def majority(shares: pd.Series, counts: pd.Series, wanted: pd.Series) -> pd.Series:
    """Return 1 where most of an item's votes are yes, 0 where most are no, NaN where it is open."""
    decided = (shares != 0.5) & (counts >= wanted)
    return (shares > 0.5).astype(float).where(decided)
