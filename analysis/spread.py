"""How the answers to each question are spread: a bar a system, the fuller of the best one first."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import pandas as pd

from analysis.groups import Asked, questions
from analysis.report import Chart, Section
from analysis.tables import RatingTable

KINDS = 12  # kinds of answer that a legend can hold; more are put into bands
BANDS = 5
WORDS = {"1": "yes (1)", "0": "no (0)"}


def sections(ratings: pd.DataFrame) -> Iterator[Section]:
    """Yield a section for each question that is not a rank."""
    several = ratings["protocol"].nunique() > 1
    for asked in questions(RatingTable(ratings), "nominal", "ordinal", "interval"):
        if asked.rows["value"].nunique() > 1 or asked.rows["system"].nunique() > 1:
            name = f"{asked.protocol}-{asked.question}" if several else asked.question
            yield _section(asked, name)


def _section(asked: Asked, name: str) -> Section:
    counts = _counts(asked)
    answers = [str(each) for each in counts.columns]
    top = counts.iloc[:, -1] / counts.sum(axis=1)
    counts = counts.loc[top.sort_values(ascending=False, kind="stable").index]
    found = [
        {"system": str(system), "answer": answer, "rank": rank, "count": int(row[answer])}
        for system, row in counts.iterrows()
        for rank, answer in enumerate(answers)
    ]
    last = answers[-1]
    what = WORDS[last] if asked.is_yes_no else f"“{last}”"
    most = int(counts.iloc[0].sum())
    return Section(
        f"{asked.question[:1].upper()}{asked.question[1:]}: {counts.index[0]} has the largest "
        f"share of {what}, {top.max():.0%} of its {most} answers",
        counts.rename_axis(index="system", columns=None).reset_index(),
        "Number of answers of each kind.",
        key=f"spread-{name}",
        chart=Chart(kind="shares", rows=found, answers=answers, axis="share of answers"),
    )


def _counts(asked: Asked) -> pd.DataFrame:
    """Return how often each answer was given to each system; many kinds are put into bands."""
    values = asked.rows["value"]
    numbers = pd.to_numeric(values, errors="coerce")
    if numbers.isna().any():
        shown = values.astype(str)
        order = sorted(shown.unique())
    elif asked.level == "nominal" or numbers.nunique() <= KINDS:
        shown = numbers.map("{:g}".format)
        order = [f"{value:g}" for value in sorted(numbers.unique())]
    else:
        shown, order = _banded(asked)
    counts = pd.crosstab(asked.rows["system"].astype(str), shown)
    return counts.reindex(columns=[name for name in order if name in counts])


def _banded(asked: Asked) -> tuple[pd.Series, list[str]]:
    low, high = asked.ends
    edges = np.linspace(low, high, BANDS + 1)
    names = [f"{a:g} to {b:g}" for a, b in pairwise(edges)]
    place = np.clip(np.searchsorted(edges, asked.values, side="right") - 1, 0, BANDS - 1)
    return pd.Series([names[k] for k in place], index=asked.rows.index), names
