"""Intended agreement: how often raters name what a reply was meant to be, such as a sentiment.

Chikai et al. 2019 (NLP4CONVAI, section 6): the share is taken per rater and averaged over raters;
the interval is Student's over raters (`over_raters`), our choice where the paper names no method.
The column `intended` says what a reply was meant to be; replies without it are left out, and so is
a question none of whose answers is something that a reply was meant to be, such as fluency.
"""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from analysis.scores.question_ratings import QuestionRatings, questions
from analysis.stats.between_runs import Spread, over_raters
from analysis.stats.intervals import Interval
from analysis.tables.schema import RatingTable
from analysis.tables.tidy import tidy

SIMULATED_AS = ("over_raters",)
COLUMN = "intended"


def intended_agreement(ratings: RatingTable) -> pd.DataFrame:
    """Return a row per system and nominal question about replies with an intention."""
    rated = questions(ratings, "nominal") if COLUMN in ratings.columns else ()
    meant = (one for one in rated if _asks_of_intentions(one.rows))
    return tidy("intended_agreement", (row for one in meant for row in _question_rows(one)))


def agreement(rows: pd.DataFrame) -> Spread:
    """Return the macro-average over raters of the share of answers that are as intended."""
    right = (rows["value"].astype(str) == rows[COLUMN].astype(str)).astype(float)
    return over_raters(right.groupby(rows["rater"].astype(str)).mean().sort_values())


def _asks_of_intentions(rows: pd.DataFrame) -> bool:
    """Tell whether some answer is what a reply was meant to be; the column is beside all."""
    return bool(rows["value"].astype(str).isin(set(rows[COLUMN].dropna().astype(str))).any())


def _question_rows(question: QuestionRatings) -> Iterator[dict[str, object]]:
    for system, rows in question.by_system():
        meant = rows[rows[COLUMN].fillna("").astype(str) != ""]
        if meant.empty:
            continue
        found = agreement(meant)
        ends = Interval(max(found.interval.low, 0.0), min(found.interval.high, 1.0))
        yield {
            **question.name,
            "system": system,
            "estimate": found.mean,
            "low": ends.low if found.reason is None else float("nan"),
            "high": ends.high if found.reason is None else float("nan"),
            "n": len(meant),
            "raters": found.n,
            "reason": found.reason,
        }
