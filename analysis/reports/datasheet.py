"""A datasheet of the evaluation in the shape of HEDS, the Human Evaluation Datasheet.

Answers are written from the frozen plan of the export and from the ratings (`analysis/heds.py`);
what nothing records says so, with what the researcher must fill in before it is published.
"""

from __future__ import annotations

import pandas as pd

from analysis import heds
from analysis.metrics.krippendorff_alpha import krippendorff_alpha
from analysis.report import Report, Section
from analysis.study import Study
from analysis.tables import RatingTable
from analysis.tidy import ALL


def datasheet(ratings: RatingTable, *, seed: int = 0, study: Study | None = None) -> Report:
    """Return the datasheet, section by section."""
    rows = pd.DataFrame(heds.rows(ratings, study), columns=["section", "question", "answer"])
    sections = [
        Section(
            str(name),
            part[["question", "answer"]].reset_index(drop=True),
            key=f"heds-{place}",
        )
        for place, (name, part) in enumerate(rows.groupby("section", sort=False), start=1)
    ]
    sections.insert(-1, _criteria(study))
    sections.insert(-1, _agreement(ratings, seed))
    return Report(
        name="datasheet",
        title="Datasheet of the human evaluation",
        findings=(_finding(rows),),
        sections=tuple(each for each in sections if len(each.frame)),
    )


def _finding(rows: pd.DataFrame) -> str:
    open_ = int(rows["answer"].str.contains(r"\[(?:Fill in|Check)").sum())
    return (
        f"{len(rows) - open_} of {len(rows)} questions are answered by the plan and the ratings; "
        f"{open_} wait for the researcher, marked [Fill in] or [Check]."
    )


def _criteria(study: Study | None) -> Section:
    rows = pd.DataFrame(heds.criteria(study))
    note = "How scores are aggregated, and which tests are used, is in the methods of the summary."
    return Section("4 Quality criteria", rows, note, key="heds-criteria")


def _agreement(ratings: RatingTable, seed: int) -> Section:
    found = krippendorff_alpha(ratings, seed=seed)
    whole = found[found["system"].eq(ALL)]
    rows = whole if len(whole) else found
    if rows["estimate"].isna().all() and "reason" in rows:
        rows = rows[["question", "n", "reason"]].rename(columns={"reason": "why not defined"})
    else:
        rows = rows[["question", "system", "estimate", "low", "high", "n"]]
    note = "Krippendorff's alpha, 95 % bootstrap over the n items with two ratings or more."
    return Section(
        "4 Agreement of raters on each criterion",
        rows.reset_index(drop=True),
        note,
        key="heds-agreement",
    )
