"""Report: findings first, then ordered sections, each titled by its finding.

Page, PDF, terminal and notebook are faces of this one object; each draws a `Chart` its own way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import pandas as pd

ENDS = ("estimate", "low", "high")
PRINTED = "As printed: "  # begins the title of a paper's own table
Kind = Literal["intervals", "bars", "shares", "matrix", "plane", "grouped"]


@dataclass(frozen=True, kw_only=True)
class Chart:
    """The content of a picture, independent of how it is drawn. `rows` has the columns of its kind.

    intervals: system, series, estimate, low, high; bars: step, people, kind; shares: system,
    answer, rank, count; matrix: system, other, p; plane: series, name, x, y, joined (part of a
    line, or a point); grouped bars: system, series, value. `line` is a value to compare with, such
    as chance; `answers` are those of a scale, in order; `upright` is the title of the second axis.
    """

    kind: Kind
    rows: Sequence[Mapping[str, Any]]
    axis: str = ""
    upright: str = ""
    domain: tuple[float, float] | None = None
    line: float | None = None
    answers: Sequence[str] = ()


def dots(rows: pd.DataFrame, series: str) -> list[dict[str, Any]]:
    """Return the rows of a chart of intervals from those of results, in their order."""
    return [
        {
            "system": str(row["system"]),
            "series": series,
            **{name: None if pd.isna(row[name]) else float(row[name]) for name in ENDS},
        }
        for row in rows.to_dict("records")
    ]


def chance(p: float) -> str:
    """Return a probability with two decimals; never 0 or 1, which no model gives."""
    return "<0.01" if p < 0.005 else ">0.99" if p > 0.995 else f"{p:.2f}"


def at_least(p: float) -> str:
    """Return the least of several probabilities."""
    return chance(p) if p > 0.995 else f"{chance(p)} or more"


def many(count: int, noun: str, plural: str = "") -> str:
    """Return a count with its noun."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {plural or noun + 's'}"


@dataclass(frozen=True, eq=False)
class Section:
    """One table of a report; the title says its finding, the note how it was computed.

    `key` names it in addresses and files, where it is the same for the same question. An appendix
    is there to look something up, after the methods: a page folds it. What `leads` is on the first
    pages of a PDF.
    """

    title: str
    frame: pd.DataFrame
    note: str = ""
    key: str = ""
    chart: Chart | None = None
    appendix: bool = False
    leads: bool = False

    @property
    def is_printed(self) -> bool:
        """Whether these are the numbers of a paper, rather than one's own."""
        return self.title.startswith(PRINTED)


@dataclass(frozen=True, eq=False)
class Report:
    """A named analysis, ready to be shown on a page or in a terminal.

    `about` has what a cover says: study, systems and the like, each with its label.
    """

    name: str
    title: str
    findings: tuple[str, ...]
    sections: tuple[Section, ...]
    cautions: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    about: tuple[tuple[str, str], ...] = ()
