"""Answer distribution of each question: one bar per system, the better one first.

Apart because the summary of a question is built from parts that each have a table and a chart.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import pandas as pd

from analysis.report import Chart, Section
from analysis.scores.question_ratings import QuestionRatings, questions
from analysis.tables.schema import RatingTable

KINDS = 12  # kinds of answer that a legend can hold; more are put into bands
BANDS = 5
WORDS = {"1": "yes (1)", "0": "no (0)"}


def sections(ratings: pd.DataFrame) -> Iterator[Section]:
    """Yield a section for each question that is not a rank."""
    several = ratings["protocol"].nunique() > 1
    for question in questions(RatingTable(ratings), "nominal", "ordinal", "interval"):
        if question.rows["value"].nunique() > 1 or question.rows["system"].nunique() > 1:
            name = f"{question.protocol}-{question.question}" if several else question.question
            yield _section(question, name)


def _section(question: QuestionRatings, name: str) -> Section:
    counts = _counts(question)
    answers = [str(each) for each in counts.columns]
    best = answers[0 if question.better == "low" else -1]
    top = counts[best] / counts.sum(axis=1)
    counts = counts.loc[top.sort_values(ascending=False, kind="stable").index]
    found = [
        {"system": str(system), "answer": answer, "rank": rank, "count": int(row[answer])}
        for system, row in counts.iterrows()
        for rank, answer in enumerate(answers)
    ]
    what = WORDS[best] if question.is_yes_no else f"“{best}”"
    most = int(counts.iloc[0].sum())
    title = question.question[:1].upper() + question.question[1:]
    return Section(
        f"{title}: {counts.index[0]} has the largest share of {what}, "
        f"{top.max():.0%} of its {most} answers",
        counts.rename_axis(index="system", columns=None).reset_index(),
        "Number of answers of each kind.",
        key=f"spread-{name}",
        chart=Chart(kind="shares", rows=found, answers=answers, axis="share of answers"),
        appendix=True,
    )


def _counts(question: QuestionRatings) -> pd.DataFrame:
    """Return how often each answer was given to each system; many kinds are put into bands."""
    code, names = _answers(question)
    system, systems = pd.factorize(question.rows["system"], sort=True)
    cells = np.bincount(system * len(names) + code, minlength=len(systems) * len(names))
    counts = pd.DataFrame(
        cells.reshape(len(systems), -1), pd.Index(systems.astype("str"), name="system"), names
    )
    # Of numbers that are written alike the one is the other.
    counts = counts.T.groupby(level=0, sort=False).sum().T
    return counts.loc[:, counts.any()]


def _answers(question: QuestionRatings) -> tuple[np.ndarray, list[str]]:
    """Return the kind of each answer, counted from 0, and what the kinds are called, in order."""
    values = question.rows["value"]
    numbers = pd.to_numeric(values, errors="coerce")
    if numbers.isna().any():
        code, known = pd.factorize(values.astype(str), sort=True)
        return code, [str(each) for each in known]
    code, points = pd.factorize(numbers, sort=True)
    if question.level == "nominal" or (len(points) <= KINDS and _are_points(question, points)):
        return code, [f"{value:g}" for value in points]
    low, high = question.ends
    edges = np.linspace(low, high, BANDS + 1)
    bands = np.clip(np.searchsorted(edges, question.values, side="right") - 1, 0, BANDS - 1)
    return bands, [f"{a:g} to {b:g}" for a, b in pairwise(edges)]


def _are_points(question: QuestionRatings, values: pd.Index) -> bool:
    """Tell whether answers are points of a scale, not what a slider happened to be put to."""
    low, high = question.ends
    is_whole = all(float(value).is_integer() for value in values)
    return question.level != "interval" or (is_whole and high - low < KINDS)
