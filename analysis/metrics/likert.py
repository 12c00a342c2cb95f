"""Mean, SD, standard error and 95 % t interval of a rating scale, per system and question.

The papers print mean (SD) over dialogues (PERSONA-CHAT, Zhang et al. 2018, table 4) and SE = SD/√n.
`sd` is the sample SD (n - 1), which the interval needs; `sd_population` (n) is what PERSONA-CHAT
prints: .42 of 100 dialogues has SD .49 there, as with n, where n - 1 gives .50. Where several
raters judged one item, or raters rate a system more than once, ratings depend on each other, and
the standard error is that of a mean of clusters: by item, by rater, or by both where they cross
(`analysis.stats.clustering`); with one rating an item and a rater all are the same. Of what a
single rater said the interval is over items. `docs/simulation.md` has what it holds.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from analysis.scores.question_ratings import QuestionRatings, questions
from analysis.stats.clustering import codes, error_of_mean
from analysis.stats.intervals import Floats, t_interval
from analysis.tables.schema import RatingTable
from analysis.tables.tidy import tidy


def likert(ratings: RatingTable) -> pd.DataFrame:
    """Return a row per ordinal or interval question and system."""
    return tidy(
        "likert",
        (
            row
            for question in questions(ratings, "ordinal", "interval")
            for row in _question_rows(question)
        ),
    )


def _question_rows(question: QuestionRatings) -> Iterator[dict[str, object]]:
    item, rater = codes(question.rows["item"]), codes(question.rows["rater"])
    of, names = pd.factorize(question.rows["system"], sort=True)
    for k, system in enumerate(names):
        mine = of == k
        values, items = question.values[mine], codes(item[mine])
        raters = codes(rater[mine])
        by = (items, raters) if raters.max() > 0 else (items,)
        reason = _reason(values, int(items.max()) + 1)
        error = error_of_mean(values, *by)
        low, high = t_interval(float(values.mean()), error.se, 0 if reason else error.df)
        yield {
            **question.name,
            "system": str(system),
            "estimate": values.mean(),
            "low": low,
            "high": high,
            "n": len(values),
            "sd": values.std(ddof=1) if len(values) > 1 else float("nan"),
            "sd_population": values.std(),
            "se": error.se if items.max() > 0 else float("nan"),
            "items": int(items.max()) + 1,
            **question.scale,
            "reason": reason,
        }


def _reason(values: Floats, items: int) -> str | None:
    if len(values) == 1:
        return "only one rating: no variance, so no interval"
    if items == 1:
        return "all ratings are of the same item: no interval over items"
    if np.ptp(values) == 0:
        return f"every rating is {values[0]:g}: no variance, so no interval"
    return None
