"""Pictures of a report's sections as SVG, titled by the finding; the table has the same numbers.

The same section gives the same bytes: no date, and ids by a fixed salt. Names are drawn as they
are. The results pages draw the same `Chart` in the browser. Apart because it knows figures, and
`analysis.output.pdf` knows pages.
"""

from __future__ import annotations

import io
import math
import unicodedata
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from analysis.report import Chart, Kind, Section, chance

FEW = 8  # lines up to which there is room between them
MOST = 40  # systems that still have a line each on one page
LEGEND_MARK, LEGEND_LETTER, LEGEND_LINE = 0.45, 0.065, 0.16  # inches that they take
LONGEST = 32  # letters of a name beside the axis; the table has all of them
WIDTH, HALF, PLANE = 7.0, 3.3, 3.6  # inches: of a page, beside a table, and the height of a plane
DASHES = ("-", "--", ":")
# How each series of a picture is marked: shapes differ too, for whoever cannot tell colors.
MARKS = (("o", "#1f4e79"), ("D", "#b35900"), ("s", "#5c666b"))
LOST, KEPT = "#b35900", "#1f4e79"
UNSHOWN = {"Cc", "Cn", "Cs"}  # control characters, no characters, halves of one
STYLE: dict[Any, Any] = {
    "svg.hashsalt": "parley",
    "svg.fonttype": "path",
    "font.family": "DejaVu Sans",
    "font.size": 8,
}
_settings = Lock()  # what Matplotlib is set to is the same for all threads


def chart(section: Section, *, width: float = WIDTH) -> str | None:
    """Return the section's picture, `width` inches wide; None for none or too many lines."""
    drawn = section.chart
    if drawn is None or not drawn.rows or len(_lines(drawn)) > MOST:
        return None
    size = {"font.size": 7} if width < WIDTH else {}
    with _settings, mpl.rc_context(STYLE | size), warnings.catch_warnings():
        # Letters that the font lacks are boxes here; the table has the name.
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        return _drawn(clean(section.title), drawn, width)


@dataclass(frozen=True, repr=False)
class Picture:
    """A picture that a notebook shows; in text it is told."""

    svg: str
    alt: str

    def __repr__(self) -> str:
        return self.alt

    def _repr_svg_(self) -> str:
        return self.svg


def picture(section: Section) -> Picture | None:
    """Return the section's picture for a notebook, or None where it has none."""
    drawn = chart(section)
    return None if drawn is None else Picture(drawn, alt_text(section))


def alt_text(section: Section) -> str:
    """Say in words what the picture shows, for whoever does not see it."""
    if section.chart is None:
        return section.title
    what = {
        "intervals": "Dots with 95% intervals, from first to last",
        "bars": "Bars, from first to last",
        "shares": "Stacked bars of shares, from first to last",
        "matrix": "A matrix of probabilities, from first to last",
        "plane": f"{section.chart.upright} against {section.chart.axis}",
        "grouped": "Bars, from first to last",
    }[section.chart.kind]
    title = section.title.rstrip(".")
    return f"{title}. {what}: {', '.join(_lines(section.chart))}. The table below has the numbers."


def clean(text: str) -> str:
    """Return `text` on one line, without what neither XML nor a font can hold."""
    letters = " ".join(text.split())
    return "".join("\ufffd" if unicodedata.category(c) in UNSHOWN else c for c in letters)


def _lines(drawn: Chart) -> list[str]:
    """Return what has a line of its own, from the top; of a plane, what is drawn in it."""
    name = {"bars": "step", "plane": "series"}.get(drawn.kind, "system")
    return list(dict.fromkeys(str(row[name]) for row in drawn.rows))


def _drawn(title: str, drawn: Chart, width: float) -> str:
    lines = _lines(drawn)
    narrow = width < WIDTH
    line = 0.15 if narrow else 0.3 if len(lines) <= FEW else 0.2
    height = PLANE if drawn.kind == "plane" else (0.55 if narrow else 0.8) + line * len(lines)
    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.add_subplot()
    DRAWERS[drawn.kind](axes, drawn, lines)
    axes.spines[["top", "right"]].set_visible(False)
    if drawn.kind != "plane":
        _named(axes, lines)
    if len(labels := axes.get_legend_handles_labels()[1]) > 1:
        widest = LEGEND_MARK + LEGEND_LETTER * max(map(len, labels))
        ncols = max(1, min(3 if narrow else 5, int(width / widest)))
        figure.set_figheight(height + LEGEND_LINE * (math.ceil(len(labels) / ncols) - 1))
        figure.legend(loc="outside upper left", ncols=ncols, frameon=False, fontsize="small")
    stream = io.StringIO()
    figure.savefig(stream, format="svg", metadata={"Title": title, "Date": None})
    return stream.getvalue()


def _named(axes: Axes, lines: Sequence[str]) -> None:
    """Name the lines, the first one on top."""
    names = [_short(clean(each)) for each in lines]
    axes.set_yticks(range(len(lines)), names, parse_math=False)
    axes.spines["left"].set_visible(False)
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(len(lines) - 0.5, -0.5)


def _plane(axes: Axes, drawn: Chart, lines: Sequence[str]) -> None:
    for index, name in enumerate(lines):
        marker, color = MARKS[index % len(MARKS)]
        rows = [row for row in drawn.rows if row["series"] == name]
        joined = [row for row in rows if row["joined"]]
        points = [row for row in rows if not row["joined"]]
        dash = DASHES[index % len(DASHES)]
        label = name if not points else None
        axes.plot(_column(joined, "x"), _column(joined, "y"), dash, color=color, label=label)
        if points:
            axes.plot(_column(points, "x"), _column(points, "y"), marker, color=color, label=name)
        for row in points:
            at, text = (float(row["x"]), float(row["y"])), _short(clean(str(row["name"])), 16)
            axes.annotate(text, at, (4, 4), textcoords="offset points", parse_math=False)
    if all(float(row["x"]).is_integer() for row in drawn.rows):
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.grid(color="#d0d0d0", linewidth=0.6)
    axes.set_xlabel(clean(drawn.axis), parse_math=False)
    axes.set_ylabel(clean(drawn.upright), parse_math=False)


def _grouped(axes: Axes, drawn: Chart, lines: Sequence[str]) -> None:
    series = list(dict.fromkeys(str(row["series"]) for row in drawn.rows))
    thick = 0.8 / len(series)
    for index, name in enumerate(series):
        rows = [row for row in drawn.rows if row["series"] == name]
        off = thick * (index - (len(series) - 1) / 2)
        at = [lines.index(str(row["system"])) + off for row in rows]
        color = MARKS[index % len(MARKS)][1]
        bars = axes.barh(at, _column(rows, "value"), thick, color=color, label=name)
        axes.bar_label(bars, fmt="%.3g", padding=3, fontsize="small")
    axes.set_xlabel(clean(drawn.axis), parse_math=False)


def _intervals(axes: Axes, drawn: Chart, lines: Sequence[str]) -> None:
    if drawn.domain is not None:
        axes.set_xlim(*_wide_enough(drawn, drawn.domain))
    if drawn.line is not None:
        axes.axvline(drawn.line, color="#808080", linewidth=0.8, linestyle="--")
    series = list(dict.fromkeys(str(row["series"]) for row in drawn.rows))
    for index, name in enumerate(series):
        marker, color = MARKS[index % len(MARKS)]
        rows = [row for row in drawn.rows if row["series"] == name]
        off = 0.36 * (index - (len(series) - 1) / 2)
        at = [lines.index(str(row["system"])) + off for row in rows]
        axes.hlines(at, _column(rows, "low"), _column(rows, "high"), color=color, linewidth=1.6)
        axes.plot(_column(rows, "estimate"), at, marker, color=color, markersize=4.5, label=name)
    axes.grid(axis="x", color="#d0d0d0", linewidth=0.6)
    axes.set_xlabel(clean(drawn.axis), parse_math=False)


def _bars(axes: Axes, drawn: Chart, lines: Sequence[str]) -> None:
    counts = [int(row["people"]) for row in drawn.rows]
    colors = [LOST if row.get("kind") == "lost" else KEPT for row in drawn.rows]
    bars = axes.barh(range(len(lines)), counts, height=0.6, color=colors)
    axes.bar_label(bars, padding=3)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlabel(clean(drawn.axis), parse_math=False)


def _shares(axes: Axes, drawn: Chart, lines: Sequence[str]) -> None:
    shades = mpl.colormaps["viridis"](np.linspace(0, 1, max(len(drawn.answers), 2)))
    counts = {(str(row["system"]), row["answer"]): float(row["count"]) for row in drawn.rows}
    totals = [sum(counts.get((name, each), 0.0) for each in drawn.answers) for name in lines]
    left = np.zeros(len(lines))
    for answer, shade in zip(drawn.answers, shades, strict=False):
        shares = np.array([counts.get((name, answer), 0.0) for name in lines]) / totals
        axes.barh(
            range(len(lines)), shares, 0.7, left, color=tuple(shade), label=_short(clean(answer))
        )
        left += shares
    axes.set_xlim(0, 1)
    axes.xaxis.set_major_formatter("{x:.0%}")
    axes.set_xlabel(clean(drawn.axis), parse_math=False)


def _matrix(axes: Axes, drawn: Chart, lines: Sequence[str]) -> None:
    table = np.full((len(lines), len(lines)), np.nan)
    for row in drawn.rows:
        table[lines.index(str(row["system"])), lines.index(str(row["other"]))] = row["p"]
    axes.imshow(table, cmap="BrBG", vmin=-0.35, vmax=1.35, aspect="auto")  # text stays readable
    for (across, along), p in np.ndenumerate(table):
        if not np.isnan(p):
            axes.text(along, across, chance(p), ha="center", va="center")
    names = [_short(clean(each)) for each in lines]
    slanted: dict[str, Any] = (
        {} if len(lines) < 6 else {"rotation": 30, "ha": "right", "rotation_mode": "anchor"}
    )
    axes.set_xticks(range(len(lines)), names, parse_math=False, **slanted)
    axes.tick_params(axis="x", length=0)
    axes.set_xlabel(clean(drawn.axis), parse_math=False)


DRAWERS: Mapping[Kind, Callable[[Axes, Chart, Sequence[str]], None]] = {
    "intervals": _intervals,
    "bars": _bars,
    "shares": _shares,
    "matrix": _matrix,
    "plane": _plane,
    "grouped": _grouped,
}


def _column(rows: Sequence[Mapping[str, Any]], name: str) -> list[float]:
    return [float("nan") if row[name] is None else float(row[name]) for row in rows]


def _wide_enough(drawn: Chart, domain: tuple[float, float]) -> tuple[float, float]:
    """Return the domain with a margin, wider where an interval leaves it: a calibrated one may."""
    ends = [
        float(row[end]) for row in drawn.rows for end in ("low", "high") if row[end] is not None
    ]
    margin = 0.02 * (domain[1] - domain[0])
    return min([domain[0], *ends]) - margin, max([domain[1], *ends]) + margin


def _short(name: str, longest: int = LONGEST) -> str:
    return name if len(name) <= longest else f"{name[: longest - 1]}…"
