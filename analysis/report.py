"""A report: findings first, then ordered sections, each titled by what it shows."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd


@dataclass(frozen=True, eq=False)
class Section:
    """One table of a report; the title says its finding, the note how it was computed."""

    title: str
    frame: pd.DataFrame
    note: str = ""


@dataclass(frozen=True, eq=False)
class Report:
    """A named analysis, ready to be shown on a page or in a terminal."""

    name: str
    title: str
    findings: tuple[str, ...]
    sections: tuple[Section, ...]
    cautions: tuple[str, ...] = ()
