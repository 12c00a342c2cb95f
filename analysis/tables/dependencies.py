"""Dependencies between answers: those that cannot both be true.

MEENA (Adiwardana et al. 2020, section 2.1): a reply that is not sensible is never specific.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from analysis.tables.invalid_rows import rows
from analysis.tables.schema import Problem

SENSIBLE = ("sensible", "sensibleness")
SPECIFIC = ("specific", "specificity")
LABEL_KEY = ["campaign", "protocol", "item", "system", "rater"]


def specific_without_sensible(table: pd.DataFrame) -> Iterator[Problem]:
    """Yield the rows that call a reply specific which the same rater called not sensible."""
    no = table[table["question"].isin(SENSIBLE) & (table["value"] == 0.0)]
    refused = set(zip(*(no[column] for column in LABEL_KEY), strict=True))
    yes = np.flatnonzero(table["question"].isin(SPECIFIC) & (table["value"] == 1.0))
    for row, *key in rows(table, yes, LABEL_KEY):
        if tuple(key) in refused:
            right = "0, because the same rater called this reply not sensible"
            yield Problem(row, "value", "1", right)
