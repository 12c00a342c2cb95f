"""Human accuracy: share of yes among yes and no that people said of question-answer pairs.

The nex-cv paper (NLP4CONVAI 2019, section 4.2) compares it with automatic accuracy and does not
say how "can't tell" counts: here it is left out, and `cannot_tell` is its share of all answers. The
interval is Wilson's, with as many answers as clustered ones are worth, by pair, and by rater where
there are several (`analysis.stats.clustering`).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from analysis.scores.question_ratings import QuestionRatings, questions
from analysis.stats.clustering import Codes, codes, share_intervals
from analysis.stats.intervals import Floats
from analysis.tables.schema import RatingTable
from analysis.tables.tidy import tidy

SIMULATED_AS = ("ssa",)
YES, NO, CANNOT_TELL = "yes", "no", "can't tell"


def human_accuracy(ratings: RatingTable) -> pd.DataFrame:
    """Return a row per system and question that is answered yes, no or can't tell."""
    rated = (one for one in questions(ratings, "nominal") if _fits(one))
    return tidy("human_accuracy", (row for one in rated for row in _question_rows(one)))


def _fits(question: QuestionRatings) -> bool:
    return bool(question.rows["value"].isin([YES, NO, CANNOT_TELL]).all())


def _question_rows(question: QuestionRatings) -> Iterator[dict[str, object]]:
    systems = [
        (name, rows, rows[rows["value"] != CANNOT_TELL]) for name, rows in question.by_system()
    ]
    known = [decided for _, _, decided in systems if len(decided)]
    ends = iter(share_intervals([(_is_yes(decided), _by(decided)) for decided in known]))
    for system, rows, decided in systems:
        row = {
            **question.name,
            "system": system,
            "n": len(decided),
            "cannot_tell": 1 - len(decided) / len(rows),
            "reason": None if len(decided) else "nobody said yes or no",
        }
        if len(decided):
            low, high = next(ends)
            row |= {"estimate": float(_is_yes(decided).mean()), "low": low, "high": high}
        yield row


def _is_yes(rows: pd.DataFrame) -> Floats:
    return np.array(rows["value"] == YES, dtype=float)


def _by(rows: pd.DataFrame) -> list[Codes]:
    items, raters = codes(rows["item"]), codes(rows["rater"])
    return [items, raters] if raters.max() > 0 else [items]
