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
    top = counts.iloc[:, -1] / counts.sum(axis=1)
    counts = counts.loc[top.sort_values(ascending=False, kind="stable").index]
    found = [
        {"system": str(system), "answer": answer, "rank": rank, "count": int(row[answer])}
        for system, row in counts.iterrows()
        for rank, answer in enumerate(answers)
    ]
    last = answers[-1]
    what = WORDS[last] if question.is_yes_no else f"“{last}”"
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
    values = question.rows["value"]
    numbers = pd.to_numeric(values, errors="coerce")
    if numbers.isna().any():
        shown = values.astype(str)
        order = sorted(shown.unique())
    elif question.level == "nominal" or numbers.nunique() <= KINDS:
        code, known = pd.factorize(numbers, sort=True)
        # Of numbers that are written alike the one is the other.
        shown = pd.Series(pd.Index(known).map("{:g}".format)[code], index=values.index)
        order = [f"{value:g}" for value in sorted(numbers.unique())]
    else:
        shown, order = _banded(question)
    counts = pd.crosstab(question.rows["system"].astype(str), shown)
    return counts.reindex(columns=[name for name in order if name in counts])


def _banded(question: QuestionRatings) -> tuple[pd.Series, list[str]]:
    low, high = question.ends
    edges = np.linspace(low, high, BANDS + 1)
    names = [f"{a:g} to {b:g}" for a, b in pairwise(edges)]
    index = np.clip(np.searchsorted(edges, question.values, side="right") - 1, 0, BANDS - 1)
    return pd.Series([names[k] for k in index], index=question.rows.index), names
