"""Plain text of a report, for a terminal or a file: aligned tables, a dash for the unknown."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from textwrap import wrap

import pandas as pd

from analysis.report import Report, Section
from analysis.stats.rounding import beyond, is_share

WIDTH = 100
DECIMALS = 3  # decimals of shares and coefficients, as on the pages
SCALE, LARGE = 2.0, 100.0  # from where on a column needs one fewer, and two fewer


def rendered(report: Report) -> str:
    """Return the whole report as text."""
    return "\n".join(_lines(report)) + "\n"


def table(frame: pd.DataFrame) -> str:
    """Return a frame as an aligned table, numbers to the right."""
    cells = cells_of(frame)
    rows = [[str(name) for name in frame.columns], *cells]
    widths = [max(len(row[k]) for row in rows) for k in range(len(frame.columns))]
    right = [is_number(frame[name]) for name in frame.columns]
    lines = [_row(row, widths, right) for row in rows]
    return "\n".join([lines[0], "-" * len(lines[0]), *lines[1:]])


def cells_of(frame: pd.DataFrame) -> list[list[str]]:
    """Return the cells of a frame as text."""
    columns = [frame.iloc[:, k] for k in range(len(frame.columns))]
    kinds = [(decimals_of(column), is_share(column)) for column in columns]
    return [
        [written(value, *kind) for value, kind in zip(row, kinds, strict=True)]
        for row in frame.itertuples(index=False, name=None)
    ]


def decimals_of(column: pd.Series) -> int:
    """Return how many decimals say something: three of shares, two of points of a scale."""
    known = [abs(each) for each in column if isinstance(each, float) and math.isfinite(each)]
    top = max(known, default=0.0)
    return DECIMALS if top < SCALE else DECIMALS - 1 if top < LARGE else DECIMALS - 2


def written(value: object, decimals: int = DECIMALS, share: bool = False) -> str:
    """Return one cell as text, and a dash where there is no value."""
    if value is None or value is pd.NA:
        return "-"
    if isinstance(value, float):
        sign, figure = (beyond(value, decimals) if share else None) or ("", value)
        return "-" if not math.isfinite(value) else f"{sign}{figure:.{decimals}f}"
    return " ".join(str(value).split())


def _lines(report: Report) -> Iterator[str]:
    yield report.title
    yield "=" * len(report.title)
    for label, text in report.about:
        yield from wrap(f"{label}: {text}", WIDTH, subsequent_indent="  ")
    yield ""
    for finding in report.findings:
        yield from wrap(finding, WIDTH)
    for caution in report.cautions:
        yield from wrap(f"Caution: {caution}", WIDTH, subsequent_indent="  ")
    for section in report.sections:
        if not section.appendix:
            yield from _section(section)
    if report.methods:
        yield from ("", "Methods")
        for paragraph in report.methods:
            yield from wrap(paragraph, WIDTH, initial_indent="  ", subsequent_indent="  ")
    for section in report.sections:
        if section.appendix:
            columns = [section.frame[name] for name in section.frame]
            numbers = any(is_number(column) for column in columns)
            yield from _section(section) if numbers else _listed(section)


def _section(section: Section) -> Iterator[str]:
    yield ""
    yield from wrap(section.title, WIDTH)
    yield table(section.frame)
    if section.note:
        yield from wrap(section.note, WIDTH, initial_indent="  ", subsequent_indent="  ")


def _listed(section: Section) -> Iterator[str]:
    """Yield an appendix as paragraphs: its cells are sentences."""
    yield from ("", *wrap(section.title, WIDTH))
    for row in section.frame.itertuples(index=False):
        yield from wrap(": ".join(map(written, row)), WIDTH, subsequent_indent="  ")


def _row(cells: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> str:
    aligned = [
        cell.rjust(width) if to_right else cell.ljust(width)
        for cell, width, to_right in zip(cells, widths, right, strict=True)
    ]
    return "  ".join(aligned).rstrip()


def is_number(column: pd.Series) -> bool:
    """Say whether a column has no text, and stands to the right."""
    return all(not isinstance(value, str) for value in column)
