"""Mean, SD, standard error and 95 % t interval of a rating scale, per system and question.

The papers print mean (SD) over dialogues (PERSONA-CHAT, Zhang et al. 2018, table 4) and
SE = SD/√n. `sd` is the sample SD (n - 1), which the interval needs; `sd_population` (n) is what
PERSONA-CHAT prints: .42 of 100 dialogues has SD .49 there, as with n, where n - 1 gives .50.
Where several raters judged one item, ratings of an item are not independent, and the standard
error is the cluster-robust one of a mean (Cameron & Miller 2015, J. Human Resources 50, eq. 11),
with items - 1 degrees of freedom; with one rating an item both are the same. Where raters rate a
system more than once, their ratings share the rater's severity, and the clusters are the raters
if that is the larger error. `python -m analysis rehearse` shows what the intervals hold.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from analysis.groups import Asked, questions
from analysis.intervals import t_interval
from analysis.tables import RatingTable
from analysis.tidy import tidy


def likert(ratings: RatingTable) -> pd.DataFrame:
    """Return a row per ordinal or interval question and system."""
    return tidy(
        "likert",
        (row for asked in questions(ratings, "ordinal", "interval") for row in _rows(asked)),
    )


def _rows(asked: Asked) -> Iterator[dict[str, object]]:
    for system, rows in asked.by_system():
        values = rows["value"].astype(float)
        items = rows["item"].nunique()
        reason = _reason(values, items)
        se, clusters = _widest(values, rows) if items > 1 else (float("nan"), 1)
        low, high = t_interval(values.mean(), se, clusters - 1 if reason is None else 0)
        yield {
            **asked.name,
            "system": system,
            "estimate": values.mean(),
            "low": low,
            "high": high,
            "n": len(values),
            "sd": values.std(ddof=1) if len(values) > 1 else float("nan"),
            "sd_population": values.std(ddof=0),
            "se": se,
            "items": items,
            **asked.scale,
            "reason": reason,
        }


def _widest(values: pd.Series, rows: pd.DataFrame) -> tuple[float, int]:
    """Return the larger standard error of clusters by item and by rater, and their number."""
    found = [(_standard_error(values, rows["item"]), int(rows["item"].nunique()))]
    raters = int(rows["rater"].nunique())
    if 1 < raters < len(rows):
        found.append((_standard_error(values, rows["rater"]), raters))
    return max(found)


def _standard_error(values: pd.Series, items: pd.Series) -> float:
    gaps = (values - values.mean()).groupby(items).sum()
    clusters = len(gaps)
    return float(np.sqrt(clusters / (clusters - 1) * (gaps**2).sum()) / len(values))


def _reason(values: pd.Series, items: int) -> str | None:
    if len(values) == 1:
        return "one rating only: no spread, so no interval"
    if items == 1:
        return "all ratings are of one item: no interval over items"
    if values.nunique() == 1:
        return f"every rating is {values.iloc[0]:g}: no spread, so no interval"
    return None
