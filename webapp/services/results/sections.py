"""One part of a page of results: a finding as its title, a table, and a chart of it.

Apart because a section is a value that templates read, the page decides which there are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pandas as pd

from analysis.output.references import KEY as REFERENCES
from analysis.output.terminal import DECIMALS, decimals_of
from analysis.report import Section
from webapp.services.results import charts
from webapp.services.results.shown import plain

LONG = 40  # rows of a table that is folded


@dataclass(frozen=True, kw_only=True, eq=False)
class Part:
    """One finding: a table, the chart of it where one helps, and how it was computed."""

    key: str
    title: str
    frame: pd.DataFrame
    note: str = ""
    spec: charts.Spec | None = None
    mixed: bool = False  # a column holds numbers of different kinds
    appendix: bool = False  # there to look something up
    is_printed: bool = False  # the numbers of a paper

    @property
    def is_long(self) -> bool:
        """Tell whether the table would bury what follows; a chart's table is never folded."""
        return self.spec is None and (len(self.frame) > LONG or self.appendix)

    @property
    def columns(self) -> list[tuple[str, bool]]:
        kinds = (self.frame[name].map(lambda v: not isinstance(v, str)) for name in self.frame)
        return [(str(name), bool(kind.all())) for name, kind in zip(self.frame, kinds, strict=True)]


def of(section: Section, number: int) -> Part:
    """Return a section of a report as a part of a page; one without a key gets its number."""
    return Part(
        key=section.key or f"section-{number}",
        title=section.title,
        frame=section.frame,
        note=section.note,
        appendix=section.appendix and section.key != REFERENCES,
        is_printed=section.is_printed,
        spec=None if section.chart is None else charts.of(section.chart),
    )


def stored_part(part: Part, csv: str) -> dict[str, Any]:
    """Return a part as it is stored, `shown.ShownPart` in plain values."""
    columns = [part.frame.iloc[:, k] for k in range(len(part.frame.columns))]
    return {
        "key": part.key,
        "title": part.title,
        "note": part.note,
        "spec": part.spec,
        "is_printed": part.is_printed,
        "is_long": part.is_long,
        "columns": part.columns,
        "cells": [[plain(cell) for cell in row] for row in part.frame.itertuples(index=False)],
        "decimals": [DECIMALS if part.mixed else decimals_of(each) for each in columns],
        "csv": csv,
    }
