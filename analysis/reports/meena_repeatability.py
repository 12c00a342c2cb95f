"""Repeatability of SSA when the evaluation is run again (Adiwardana et al. 2020, section 4.1).

Each evaluation is told by the column `repeat`, or is a campaign of its own, called by its phase in
a study; SD over evaluations of the same system, seven of them in the paper.
"""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from analysis.metrics.ssa import ssa
from analysis.output.paper_layouts import sections
from analysis.report import Report, Section
from analysis.stats.between_runs import PERCENT, over_repeats
from analysis.tables.schema import RatingTable
from analysis.tables.tidy import joined

SIMULATED_AS = ("over_raters",)

TIMES = 100.0
OF_STUDIES = True


def meena_repeatability(ratings: RatingTable) -> Report:
    """Return mean and SD over evaluations, then each evaluation, beside those printed."""
    scores = _scores(ratings)
    table = pd.DataFrame(_spreads(scores))
    finding = _finding(table)
    own = [
        Section(finding, table, "In points; SD with n - 1, t interval of the mean."),
        Section("Each evaluation", scores),
    ]
    return Report(
        name="meena_repeatability",
        title="Repeatability of SSA",
        findings=(finding,),
        sections=sections(own, "meena_repeatability"),
    )


def _scores(ratings: RatingTable) -> pd.DataFrame:
    by = "repeat" if "repeat" in ratings.columns else "campaign"
    parts = [
        ssa(RatingTable(part)).assign(repeat=_name(part, str(name)))
        for name, part in ratings.groupby(by, sort=True)
    ]
    found = joined(parts)
    if found.empty:
        return pd.DataFrame()
    rows = found[found["metric"] == "ssa"].assign(estimate=lambda rows: TIMES * rows["estimate"])
    columns = ["protocol", "evaluation", "system", "repeat", "estimate", "n"]
    return rows[columns].reset_index(drop=True)


def _name(part: pd.DataFrame, name: str) -> str:
    return str(part["phase"].iloc[0] or name) if "phase" in part else name


def _spreads(scores: pd.DataFrame) -> Iterator[dict[str, object]]:
    if scores.empty:
        return
    keys = ["protocol", "evaluation", "system"]
    for names, rows in scores.groupby(keys, sort=True):
        found = over_repeats(rows["estimate"].sort_values(), PERCENT)
        named = dict(zip(keys, names, strict=True))
        ends = {"low": found.interval.low, "high": found.interval.high, "reason": found.reason}
        yield {**named, "evaluations": found.n, "mean": found.mean, "sd": found.sd, **ends}


def _finding(table: pd.DataFrame) -> str:
    known = table.dropna(subset=["sd"]) if len(table) else table
    if known.empty:
        return "No system was evaluated twice."
    most = known.iloc[int(known["evaluations"].argmax())]
    return (
        f"SD of SSA over {most['evaluations']} evaluations of {most['system']}: {most['sd']:.2f}."
    )
