"""AUC and AUC@p of rankers, in the layout of ASAPP table 3 (NLP4CONVAI 2019).

A row per measure and system, a column per dataset, such as validation and test. AUC@p is the area
up to a false-positive rate of p, divided by p (metric `auc`): chance is p/2, where McClish's
rescaling, which libraries offer under the same name, has .5.
"""

from __future__ import annotations

import pandas as pd

from analysis.metrics.auc import auc
from analysis.output.paper_layouts import sections
from analysis.report import Report, Section
from analysis.tables.schema import PredictionTable

NONE = "No system scored right replies against wrong ones."
FIRST = "auc@0.05"  # by which the paper compares its models


def asapp_auc(predictions: PredictionTable) -> Report:
    """Return one's own table above the printed one."""
    found = auc(predictions)
    finding, own = NONE, list[Section]()
    if len(found):
        finding = _finding(found)
        own = [Section(finding, _layout(found), "Of 1 at most; chance is .5, and p/2 of AUC@p.")]
    return Report(
        name="asapp_auc",
        title="AUC and AUC@p",
        findings=(finding,),
        sections=sections(own, "asapp_table3"),
    )


def _layout(found: pd.DataFrame) -> pd.DataFrame:
    """Return the whole area first, then the parts from the widest."""
    parts = found["metric"].str.partition("@")[2]
    table = found.assign(
        place=-pd.to_numeric(parts.where(parts != "", "2")),
        metric=found["metric"].str.replace("auc", "AUC"),
    )
    wide = table.pivot(
        index=["system", "place", "metric"], columns="protocol", values="estimate"
    ).reset_index()
    counts = found[found["metric"] == "auc"].pivot(index="system", columns="protocol", values="n")
    counts.columns = [f"right replies, {name}" for name in counts.columns]
    wide = wide.merge(counts.reset_index(), on="system")
    return wide.drop(columns="place").rename_axis(columns=None)


def _finding(found: pd.DataFrame) -> str:
    parts = []
    for dataset, rows in found[found["metric"] == FIRST].groupby("protocol", sort=True):
        best = rows.sort_values(["estimate", "system"], ascending=[False, True]).iloc[0]
        parts.append(f"{best['system']} on {dataset} {best['estimate']:.3f}")
    return f"Highest AUC@0.05: {', '.join(parts)}."
