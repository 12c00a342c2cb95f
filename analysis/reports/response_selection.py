"""1-of-100 accuracy of rankers on several datasets (A-1OF100; Henderson et al. 2019, table 2).

A row per system, a column per dataset, in percent, the printed table below. Expected order: frozen
vectors (SIM) below the learned map over them (MAP), both below an encoder trained for the task.
"""

from __future__ import annotations

import pandas as pd

from analysis.metrics.one_of_100 import one_of_100
from analysis.reference import reference
from analysis.report import Report, Section
from analysis.tables.schema import PredictionTable

NOTHING = "This table has no system that ranked 100 candidates."


def response_selection(predictions: PredictionTable, *, seed: int = 0) -> Report:
    """Return one's own systems, worst first as the paper has them, above the printed ones."""
    found = one_of_100(predictions, seed=seed)
    printed = reference("repository_one_of_100")
    table = pd.DataFrame(list(printed.rows))
    return Report(
        name="response_selection",
        title="Response selection: 1-of-100 accuracy",
        findings=_findings(found),
        sections=(
            *_sections(found),
            Section(f"As printed: {printed.source}", table, printed.note),
        ),
    )


def _findings(found: pd.DataFrame) -> tuple[str, ...]:
    if found.empty:
        return (NOTHING,)
    return tuple(
        _best(str(dataset), rows.sort_values(["estimate", "system"]))
        for dataset, rows in found.groupby("protocol", sort=True)
    )


def _best(dataset: str, rows: pd.DataFrame) -> str:
    best = rows.iloc[-1]
    return (
        f"{dataset}: {best['system']} is best of {len(rows)}, {100 * best['estimate']:.1f} % "
        f"({100 * best['low']:.1f} to {100 * best['high']:.1f}); chance is 1 %."
    )


def _sections(found: pd.DataFrame) -> tuple[Section, ...]:
    if found.empty:
        return ()
    percent = found.assign(estimate=100 * found["estimate"])
    wide = percent.pivot(index="system", columns="protocol", values="estimate")
    order = wide.mean(axis=1).sort_values(kind="stable").index
    wide = wide.loc[order].rename_axis(index="method", columns=None).reset_index()
    ends = found[["protocol", "system", "estimate", "low", "high", "n", "batches", "tie_rate"]]
    return (
        Section("1-of-100 accuracy, percent", wide, "The mean over batches of 100."),
        Section("The same with 95 % intervals, as fractions", ends, "n is examples."),
    )
