"""Pairwise preferences of people, in the layout of the event-causality paper's tables 4 to 6.

Of two responses to one context, or neither, by criterion (NLP4CONVAI 2019, section 3.4): the share
of each option for every two systems that were compared. Criteria are never pooled. The paper prints
no interval; these are Wilson's with as many answers as clustered ones are worth, by context and by
worker (`analysis.stats.clustering`).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from analysis.output.paper_layouts import sections
from analysis.report import Report, Section
from analysis.stats.clustering import codes, share_intervals
from analysis.tables.schema import RatingTable

SIMULATED_AS = ("ssa",)

NONE = "No question asks which of two responses is better, or neither."
NEITHER = "neither"
OPTIONS = ("A", "B", NEITHER)
KEYS = ["criterion", "system A", "system B"]


def event_preferences(ratings: RatingTable) -> Report:
    """Return a row per criterion and pair of systems, above those printed."""
    judgments = _judgments(ratings)
    finding, own = NONE, list[Section]()
    if len(judgments):
        shares = pd.DataFrame(_shares(judgments))
        finding = _finding(shares)
        own = [
            Section(
                finding, _layout(shares), "Percent of the judgments of a pair; rows sum to 100."
            ),
            Section("Intervals", shares, "95 %, clustered by context and by worker; percent."),
        ]
    return Report(
        name="event_preferences",
        title="Pairwise preferences by criterion",
        findings=(finding,),
        sections=sections(own, "event_causality_human"),
    )


def _judgments(ratings: RatingTable) -> pd.DataFrame:
    """Return a row per judgment of two systems: A, B or neither, by the order of their names."""
    ranks: pd.DataFrame = ratings[ratings["level"] == "rank"]
    questions = [rows for _, rows in ranks.groupby(["protocol", "question"]) if _fits(rows)]
    ranks = pd.concat(questions) if questions else ranks.iloc[:0]
    ranks = ranks.assign(value=ranks["value"].astype(float)).sort_values("system")
    acts = ranks.groupby(["protocol", "question", "item", "rater"], sort=False)
    both = acts.agg(
        systems=("system", "nunique"),
        rows=("system", "size"),
        first=("system", "first"),
        last=("system", "last"),
        of_first=("value", "first"),
        of_last=("value", "last"),
    ).reset_index()
    both = both[(both["systems"] == 2) & (both["rows"] == 2)]
    gap = both["of_last"] - both["of_first"]
    better = np.select([gap > 0, gap < 0], ["A", "B"], NEITHER)
    names = {"question": "criterion", "first": "system A", "last": "system B"}
    return both.assign(option=better).rename(columns=names)


def _fits(rows: pd.DataFrame) -> bool:
    """Tell whether every tie is neither; in a table without kinds of ties it is taken for that."""
    return "chosen" not in rows.columns or set(rows["chosen"].fillna("")) <= {"", NEITHER}


def _shares(judgments: pd.DataFrame) -> Iterator[dict[str, object]]:
    pairs = list(judgments.groupby(KEYS, sort=True))
    for option in OPTIONS:
        groups = [
            (
                np.asarray(rows["option"] == option, dtype=float),
                [codes(rows["item"]), codes(rows["rater"])],
            )
            for _, rows in pairs
        ]
        for (key, _), (marks, _), (low, high) in zip(
            pairs, groups, share_intervals(groups), strict=True
        ):
            row: dict[str, object] = dict(zip(KEYS, key, strict=True))
            row |= {"option": option, "estimate": 100 * marks.mean(), "low": 100 * low}
            yield row | {"high": 100 * high, "judgments": len(marks)}


def _layout(shares: pd.DataFrame) -> pd.DataFrame:
    table = shares.pivot(index=[*KEYS, "judgments"], columns="option", values="estimate")
    table = table[list(OPTIONS)].assign(sum=lambda each: each.sum(axis=1))
    return table.reset_index().rename_axis(columns=None)


def _finding(shares: pd.DataFrame) -> str:
    """Tell per criterion how often people saw a difference at all."""
    neither = shares[shares["option"] == NEITHER]
    parts = [
        f"{_plain(criterion)}: neither in {rows['estimate'].min():.0f} to "
        f"{rows['estimate'].max():.0f} %"
        if len(rows) > 1
        else f"{_plain(criterion)}: neither in {rows['estimate'].iloc[0]:.0f} %"
        for criterion, rows in neither.groupby("criterion", sort=True)
    ]
    return f"{'; '.join(parts)} of the judgments of a pair."


def _plain(name: object) -> str:
    return str(name).replace("_", " ")
