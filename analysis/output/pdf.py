"""PDF of a report, by Typst: findings, sections with tables and charts, cautions, origin.

Tagged for readers of screens (PDF/UA-1). The same report gives the same bytes where the same
fonts are installed; there is no date but the one given. A letter that no font has is a box, as
Matplotlib's font of last resort draws it, and is still the letter to whoever copies or hears it.
"""

from __future__ import annotations

import json
import platform
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any

import matplotlib as mpl
import typst

from analysis.output.charts import HALF, LONGEST, MOST, WIDTH, alt_text, chart, clean
from analysis.output.terminal import cells_of, is_number
from analysis.report import Report, Section

LAYOUT = Path(__file__).with_name("report.typ")
FONTS = Path(mpl.get_data_path(), "fonts", "ttf")  # scripts that Typst's own fonts lack
PACKAGES = ("numpy", "pandas", "scipy", "krippendorff", "scikit-learn", "matplotlib", "typst")
WIDE = 12  # columns that still fit on an upright page
LONG = re.compile(r"\S{20}(?=\S{4})")  # after these letters of a word a line may break
NARROW = re.compile(r"_(?=\S)|[^\s_]{11}(?=[^\s_]{2})")  # the same where columns are many
MANY = 9
APPENDIX_FROM = 3  # sections to look something up from which on they begin a page of their own
BESIDE = ("intervals", "shares", "bars", "grouped")  # charts that stand beside their tables
BESIDE_MOST = 10  # columns of such a table
BREAK = "\u200b"


@dataclass(frozen=True)
class Origin:
    """The origin of a report: the command makes it again.

    `title` stands in place of the report's own; author and date are told where they are known.
    """

    command: str
    seed: int = 0
    made: date | None = None
    title: str = ""
    author: str = ""


def pdf(report: Report, origin: Origin) -> bytes:
    """Return the report as a PDF document."""
    return _compiled(report, origin, "pdf")[0]


def pictures(report: Report, origin: Origin) -> list[bytes]:
    """Return the pages as PNG pictures."""
    return _compiled(report, origin, "png")


def _compiled(report: Report, origin: Origin, kind: Any) -> list[bytes]:
    compiler = typst.Compiler(
        LAYOUT,
        root=LAYOUT.parent,
        font_paths=[FONTS],
        sys_inputs={"report": json.dumps(_data(report, origin))},
    )
    found = compiler.compile(format=kind, pdf_standards=["ua-1"] if kind == "pdf" else [])
    return found if isinstance(found, list) else [found or b""]


def _data(report: Report, origin: Origin) -> dict[str, object]:
    made = origin.made
    return {
        "title": _text(origin.title or report.title),
        "about": [[_text(each) for each in row] for row in _about(report, origin)],
        "findings": [_text(each) for each in report.findings],
        "sections": _sections(report),
        "cautions": [_text(each) for each in report.cautions],
        "methods": [_text(each) for each in report.methods],
        "date": made and {"year": made.year, "month": made.month, "day": made.day},
        "seed": str(origin.seed),
        "command": _text(origin.command),
        "versions": versions(),
        "long": sum(each.appendix for each in report.sections) > APPENDIX_FROM,
        "wide": any(_is_wide(each) for each in report.sections if not each.appendix),
    }


def _about(report: Report, origin: Origin) -> Iterator[tuple[str, str]]:
    if origin.author:
        yield "Author", origin.author
    if origin.made:
        yield "Date", origin.made.isoformat()
    yield from report.about


def _sections(report: Report) -> list[dict[str, object]]:
    """Return sections as the layout has them; a note is printed once in a row of the same."""
    found, before = [], ""
    for section in report.sections:
        if len(section.frame.columns):
            repeated = section.note == before != ""
            found.append(_section(section) | ({"note": "Computed as above."} if repeated else {}))
            before = section.note
    return found


def versions() -> str:
    """Return the versions of Python and of the packages that compute and draw."""
    packages = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    return f"Python {platform.python_version()}, {packages}"


def _section(section: Section) -> dict[str, object]:
    frame = section.frame
    beside = _is_beside(section)
    # Of the appendix the table is enough, where there is no room beside it.
    no_chart = section.appendix and not beside and section.chart and section.chart.kind == "matrix"
    drawn = None if no_chart else chart(section, width=HALF if beside else WIDTH)
    right = [is_number(frame.iloc[:, k]) for k in range(len(frame.columns))]
    # Names have the room that numbers leave.
    many = len(frame.columns) > MANY
    breaks = [NARROW if k and many and right[k] else LONG for k in range(len(right))]
    return {
        "title": _text(section.title),
        "note": _text(section.note),
        "columns": [_text(str(name), at) for name, at in zip(frame.columns, breaks, strict=False)],
        "right": right,
        "rows": [
            [_text(cell, at) for cell, at in zip(row, breaks, strict=False)]
            for row in cells_of(frame)
        ],
        "appendix": section.appendix,
        "leads": section.leads,
        "key": section.key,
        "beside": beside,
        "wide": _is_wide(section),
        "chart": drawn and {"svg": drawn, "alt": _text(alt_text(section))},
    }


def _is_wide(section: Section) -> bool:
    return len(section.frame.columns) > WIDE


def _is_beside(section: Section) -> bool:
    """Say whether table and chart have room side by side."""
    kind = section.chart.kind if section.chart else ""
    longest = max((len(str(each)) for each in section.frame.iloc[:, 0]), default=0)
    fits = len(section.frame.columns) <= BESIDE_MOST and longest <= LONGEST
    return kind in BESIDE and fits and len(section.frame) <= MOST


def _text(text: str, breaks: re.Pattern[str] = LONG) -> str:
    """Return `text` with places to break its long words."""
    return breaks.sub(lambda found: found.group() + BREAK, clean(text))
