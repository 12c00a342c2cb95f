"""Intraclass correlations, six forms, with F intervals (Shrout & Fleiss 1979, Psychol. Bull. 86).

icc_1_1 and icc_1_k: every item has raters of its own; icc_2_1 and icc_2_k: the same raters judge
all items and stand for others, absolute agreement; icc_3_1 and icc_3_k: these raters only,
consistency; `_k` is the reliability of the mean of k raters. Gaps: the one-way forms take items
with unequal numbers of ratings (Searle et al. 1992, Variance Components, section 3.6), the two-way
forms only the items that all raters judged.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from analysis.raters.agreement import parts
from analysis.scores.integer_codes import coded_question, scale_of
from analysis.scores.question_ratings import questions
from analysis.stats.icc import intraclass
from analysis.tables.schema import RatingTable
from analysis.tables.tidy import tidy


def icc(ratings: RatingTable) -> pd.DataFrame:
    """Return six rows per ordinal or interval question and system, and for all systems."""
    return tidy("icc", _rating_rows(ratings))


def _rating_rows(ratings: RatingTable) -> Iterator[dict[str, object]]:
    for question in questions(ratings, "ordinal", "interval"):
        known = coded_question(question, scale_of(question))
        for system, rows in parts(question):
            values = question.values[rows]
            # In order of value, so that sums do not depend on the order of rows.
            order = np.argsort(values)
            unit, rater = (
                pd.factorize(numbers[rows][order])[0] for numbers in (known.unit, known.rater)
            )
            for found in intraclass(unit, rater, values[order]):
                yield {
                    **question.name,
                    "metric": f"icc_{found.form}",
                    "system": system,
                    "estimate": found.estimate,
                    "low": found.interval.low,
                    "high": found.interval.high,
                    "n": found.items,
                    "k": found.raters,
                    "reason": found.reason,
                    "note": found.note,
                }
