"""Disputed items, by each item's part of Krippendorff's alpha.

An item's dispute is the mean squared distance between pairs of its ratings, as a share of that
between any two ratings of the question: 0 where all agree, 1 where they agree as by chance, above
it where they disagree more. Alpha is 1 less the mean of it, an item weighing by its ratings
(Krippendorff 2011, Computing Krippendorff's Alpha-Reliability). Apart because the measure is
Krippendorff's, and the report only shows the worst items.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from analysis.scores.integer_codes import coded, scale_of, units
from analysis.scores.question_ratings import QuestionRatings
from analysis.stats.intervals import Floats

COLUMNS = ["protocol", "question", "item", "system", "dispute", "n", "answers"]
ROUNDED = 12  # decimals


def disputed(question: QuestionRatings, most: int = 10) -> pd.DataFrame:
    """Return the most disputed items of a question, worst first; none where all raters agree."""
    rows = question.rows
    unit = units(rows)
    level = scale_of(question)
    code, values = coded(question, rows, level)
    dispute, size = disputes(unit, code, values if level != "nominal" else None)
    if level == "ordinal":
        shared = size[unit] > 1
        frequencies = np.bincount(code[shared], minlength=len(values)).astype(float)
        dispute, size = disputes(unit, code, np.cumsum(frequencies) - frequencies / 2)
    first = rows[["item", "system"]].groupby(unit).first()
    found = first.assign(
        protocol=question.protocol, question=question.question, dispute=dispute, n=size
    )
    found["dispute"] = found["dispute"].round(ROUNDED)  # sums depend on the order of rows
    found = found[(found["n"] > 1) & (found["dispute"] > 0)]
    found = found.sort_values(
        ["dispute", "n", "item", "system"], ascending=[False, False, True, True]
    ).head(most)
    texts = [_answers(rows["value"][unit == index]) for index in found.index]
    return found.assign(answers=texts)[COLUMNS].reset_index(drop=True)


def disputes(
    unit: np.ndarray, code: np.ndarray, points: Floats | None
) -> tuple[Floats, np.ndarray]:
    """Return each unit's dispute and size; `places` is where categories stand, None for words."""
    size = np.bincount(unit)
    shared = size[unit] > 1
    if points is None:
        cells = unit * (int(code.max(initial=0)) + 1) + code
        cell = np.unique(cells, return_inverse=True)[1]
        alike = np.bincount(cell)[cell].astype(float)
        within = size[unit] - alike
        counts = np.bincount(code[shared]).astype(float)
        total = counts.sum()
        expected = (total**2 - counts @ counts) / max(total * (total - 1), 1)
        observed = np.bincount(unit, weights=within)
    else:
        stands = points[code] - (points[code][shared].mean() if shared.any() else 0.0)
        sums = np.bincount(unit, weights=stands)
        observed = 2 * (size * np.bincount(unit, weights=stands**2) - sums**2)
        known = stands[shared]
        total = len(known)
        expected = 2 * (total * (known @ known) - known.sum() ** 2) / max(total * (total - 1), 1)
    pairs = np.maximum(size * (size - 1), 1)
    share = observed / pairs / expected if expected > 0 else np.zeros(len(size))
    # Rounding leaves a trace where all ratings of a unit are one.
    return np.where(np.abs(share) < 1e-12, 0.0, share), size


def _answers(values: pd.Series) -> str:
    """Return what was said, with how often: "1 ×2, 5 ×3"."""
    counts = values.value_counts()
    order = sorted(counts.index, key=lambda answer: (isinstance(answer, str), answer))
    shown = (answer if isinstance(answer, str) else f"{answer:g}" for answer in order)
    return ", ".join(f"{name} ×{counts[answer]}" for name, answer in zip(shown, order, strict=True))
