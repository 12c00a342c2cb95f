"""Bad, good and great responses by source, in the layout of ASAPP table 7 (NLP4CONVAI 2019).

Three ordered grades, 0 bad to 2 great: the share of each per source and the share accepted, which
is good or great, added before rounding. The paper prints no interval; these are Wilson's with as
many answers as clustered ones are worth, by response and by rater (`analysis.stats.clustering`).
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from analysis.output.paper_layouts import sections
from analysis.report import Chart, Report, Section, dots
from analysis.stats.clustering import codes, share_intervals
from analysis.tables.schema import RatingTable

SIMULATED_AS = ("ssa",)

GRADES = {"great": (2,), "good": (1,), "bad": (0,), "accept": (1, 2)}
BAD, GREAT = 0, 2
NONE = "No question is answered by grades from 0 to 2."


def asapp_human(ratings: RatingTable) -> Report:
    """Return a row per source above those printed."""
    rows = _graded(ratings)
    finding, own = NONE, list[Section]()
    if len(rows):
        shares = _shares(rows)
        finding = _finding(shares)
        accepted = shares[shares["grade"] == "accept"].rename(columns={"source": "system"})
        chart = Chart(kind="intervals", rows=dots(accepted, "accept"), axis="percent accepted")
        own = [
            Section(finding, _layout(rows, shares), "Percent; accept = good + great.", chart=chart),
            Section("Intervals", shares, "95 %, clustered by response and by rater; percent."),
        ]
    return Report(
        name="asapp_human",
        title="Bad, good and great responses by source",
        findings=(finding,),
        sections=sections(own, "asapp_table7"),
    )


def _graded(ratings: RatingTable) -> pd.DataFrame:
    """Return the answers to questions whose scale is that of the three grades."""
    ordinal = ratings[ratings["level"] == "ordinal"]
    questions = [rows for _, rows in ordinal.groupby(["protocol", "question"]) if _fits(rows)]
    found = pd.concat(questions) if questions else ordinal.iloc[:0]
    return found.assign(value=found["value"].astype(float))


def _fits(rows: pd.DataFrame) -> bool:
    """Tell whether the scale is 0 to 2; where none is known, whether both ends were given."""
    if {"scale_low", "scale_high"} <= set(rows.columns) and rows["scale_low"].notna().all():
        return bool((rows["scale_low"].eq(BAD) & rows["scale_high"].eq(GREAT)).all())
    return set(rows["value"]) in ({0, 1, 2}, {0, 2})


def _shares(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the share of each grade per source, in percent, with its interval."""
    sources = list(rows.groupby("system", sort=True))
    found = []
    for grade, values in GRADES.items():
        groups = [
            (
                np.asarray(part["value"].isin(values), dtype=float),
                [codes(part["item"]), codes(part["rater"])],
            )
            for _, part in sources
        ]
        for (source, part), (marks, _), ends in zip(
            sources, groups, share_intervals(groups), strict=True
        ):
            found.append((source, grade, *(100 * x for x in (marks.mean(), *ends)), len(part)))
    columns = ["source", "grade", "estimate", "low", "high", "grades given"]
    return pd.DataFrame(found, columns=columns)


def _layout(rows: pd.DataFrame, shares: pd.DataFrame) -> pd.DataFrame:
    table = shares.pivot(index="source", columns="grade", values="estimate")[list(GRADES)]
    counts = rows.groupby("system").agg(contexts=("item", "nunique"), raters=("rater", "nunique"))
    table = table.join(counts).sort_index().sort_values("accept", kind="stable")
    return table.reset_index().rename_axis(columns=None)


def _finding(shares: pd.DataFrame) -> str:
    accepted = shares[shares["grade"] == "accept"].set_index("source")["estimate"]
    best = accepted.index[int(accepted.argmax())]
    return (
        f"{best} has the largest share of acceptable responses: {accepted[best]:.0f} % "
        f"of {len(accepted)} sources."
    )
