"""Mean, SD, standard error and 95 % t interval of a rating scale, per system and question.

The papers print mean (SD) over dialogues (PERSONA-CHAT, Zhang et al. 2018, table 4) and
SE = SD/√n. `sd` is the sample SD (n - 1), which the interval needs; `sd_population` (n) is what
PERSONA-CHAT prints: .42 of 100 dialogues has SD .49 there, as with n, where n - 1 gives .50.
Where several raters judged one item, or raters rate a system more than once, ratings depend on
each other, and the standard error is that of a mean of clusters: by item, by rater, or by both
where they cross (`analysis.clustering`); with one rating an item and a rater all are the same. Of
what a single rater said the interval is over items. `docs/rehearsal.md` has what it holds.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from analysis.clustering import codes, error_of_mean
from analysis.groups import Asked, questions
from analysis.intervals import Floats, t_interval
from analysis.tables import RatingTable
from analysis.tidy import tidy


def likert(ratings: RatingTable) -> pd.DataFrame:
    """Return a row per ordinal or interval question and system."""
    return tidy(
        "likert",
        (row for asked in questions(ratings, "ordinal", "interval") for row in _rows(asked)),
    )


def _rows(asked: Asked) -> Iterator[dict[str, object]]:
    item, rater = codes(asked.rows["item"]), codes(asked.rows["rater"])
    of, names = pd.factorize(asked.rows["system"], sort=True)
    for k, system in enumerate(names):
        mine = of == k
        values, items = asked.values[mine], codes(item[mine])
        raters = codes(rater[mine])
        by = (items, raters) if raters.max() > 0 else (items,)
        reason = _reason(values, int(items.max()) + 1)
        error = error_of_mean(values, *by)
        low, high = t_interval(float(values.mean()), error.se, 0 if reason else error.df)
        yield {
            **asked.name,
            "system": str(system),
            "estimate": values.mean(),
            "low": low,
            "high": high,
            "n": len(values),
            "sd": values.std(ddof=1) if len(values) > 1 else float("nan"),
            "sd_population": values.std(),
            "se": error.se if items.max() > 0 else float("nan"),
            "items": int(items.max()) + 1,
            **asked.scale,
            "reason": reason,
        }


def _reason(values: Floats, items: int) -> str | None:
    if len(values) == 1:
        return "one rating only: no spread, so no interval"
    if items == 1:
        return "all ratings are of one item: no interval over items"
    if np.ptp(values) == 0:
        return f"every rating is {values[0]:g}: no spread, so no interval"
    return None
