"""One part of a page of results: a finding as its title, a table, and a chart of it.

Apart because a section is a value that templates read, the page decides which there are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Integral

import pandas as pd
from django.utils.formats import number_format

from analysis.output.references import KEY as REFERENCES
from analysis.output.terminal import DECIMALS, decimals_of
from analysis.report import Section
from webapp.services.results import charts

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
    def rows(self) -> list[list[tuple[str, bool]]]:
        """The table's cells as text, and whether each is a number."""
        columns = [self.frame.iloc[:, k] for k in range(len(self.frame.columns))]
        decimals = [DECIMALS if self.mixed else decimals_of(each) for each in columns]
        return [
            [written(value, most) for value, most in zip(row, decimals, strict=True)]
            for row in self.frame.itertuples(index=False)
        ]

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


def written(value: object, decimals: int = DECIMALS) -> tuple[str, bool]:
    """Return a cell as text in the reader's language, and whether it is a number."""
    if value is None or value is pd.NA or (isinstance(value, float) and not math.isfinite(value)):
        return "–", True
    if isinstance(value, float):
        return str(number_format(round(value, decimals), decimals)), True  # by itself it cuts off
    if isinstance(value, Integral):
        return str(number_format(int(value))), True
    return str(value), False
