"""Share of each answer to a question whose answers are names, such as a mood.

Each answer is taken as a question of yes and no, and its share per system and the interval are
those of the crossed model (`system_score`); shares of one system need not add up to exactly 1,
since each model takes out its own raters' habits; no paper defines it. Questions with more than a
dozen different answers have no rows: nobody could read them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pandas as pd

from analysis.scores.question_ratings import QuestionRatings, questions
from analysis.scores.system_scores import system_scores
from analysis.tables.schema import RatingTable
from analysis.tables.tidy import tidy

SIMULATED_AS = ("system_score",)
MOST = 12  # different answers


def answer_share(ratings: RatingTable) -> pd.DataFrame:
    """Return a row per nominal question other than yes and no, answer and system."""
    nominal = (one for one in questions(ratings, "nominal") if not one.is_yes_no)
    return tidy("answer_share", (row for one in nominal for row in _question_rows(one)))


def _question_rows(question: QuestionRatings) -> Iterator[dict[str, object]]:
    named = question.rows["value"].astype(str)
    answers = sorted(named.unique())
    for answer in answers if len(answers) <= MOST else ():
        yes = (named == answer).astype(float)
        found = system_scores(replace(question, rows=question.rows.assign(value=yes)))
        for k, system in enumerate(found.systems):
            share = float(np.clip(found.means[k], 0.0, 1.0))  # no -0.00 of a count of none
            low, high = found.interval(k)
            yield {
                **question.name,
                "system": system,
                "estimate": share,
                "low": max(low, 0.0),
                "high": min(high, 1.0),
                "n": int(found.n[k]),
                "answer": answer,
                "count": int(yes[question.rows["system"] == system].sum()),
                "reason": found.reason,
            }
