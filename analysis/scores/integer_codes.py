"""Integer-encoded ratings of a question: unit, rater and category of each row.

A unit is what several raters judged: an item, as one system answered it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.scores.question_ratings import UNIT, QuestionRatings
from analysis.stats.intervals import Floats

Ints = NDArray[np.int64]
Scale = Literal["nominal", "ordinal", "interval", "ratio"]
# Some of a question's rows: their places, or a slice of them.
RowIndex = NDArray[np.intp] | slice
SCALES: dict[str, Scale] = {"nominal": "nominal", "interval": "interval"}


@dataclass(frozen=True, eq=False)
class CodedQuestion:
    """All rows of a question as numbers: unit, rater and category, and where categories stand."""

    unit: Ints
    rater: Ints
    code: Ints
    values: Floats


def coded_question(question: QuestionRatings, level: Scale = "nominal") -> CodedQuestion:
    """Return a question's rows as numbers, read once."""

    def made() -> CodedQuestion:
        code, values = coded(question, question.rows, level)
        return CodedQuestion(
            question.once_of_design("units", lambda: units(question.rows)),
            question.once_of_design(
                "raters", lambda: pd.factorize(question.rows["rater"])[0].astype(np.int64)
            ),
            code,
            values,
        )

    return question.once(f"numbers, {'names' if level == 'nominal' else 'scale'}", made)


def scale_of(question: QuestionRatings) -> Scale:
    """Return the scale of a question's answers; places in a ranking have an order, no distances."""
    return SCALES.get(question.level, "ordinal")


def units(rows: pd.DataFrame) -> Ints:
    """Return the unit of each row, counted from 0."""
    first, second = (pd.factorize(rows[column])[0] for column in UNIT)
    both = first.astype(np.int64, copy=False) * (int(second.max(initial=0)) + 1)
    both += second
    return pd.factorize(both)[0].astype(np.int64, copy=False)


def coded(question: QuestionRatings, rows: pd.DataFrame, level: Scale) -> tuple[Ints, Floats]:
    """Return the category of each row, and where the categories of the question stand."""
    categories = sorted(question.rows["value"].unique(), key=_sortable)
    codes = {value: index for index, value in enumerate(categories)}
    code = rows["value"].map(codes).to_numpy(dtype=np.int64)
    if level == "nominal":
        return code, np.arange(len(categories), dtype=float)
    return code, np.array(categories, dtype=float)


def _sortable(value: object) -> tuple[bool, object]:
    return isinstance(value, str), value
