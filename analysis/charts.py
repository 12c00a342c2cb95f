"""Pictures of a ranking as SVG: a dot and an interval for each system, the best one on top.

The same frame gives the same bytes: no date, and ids by a fixed salt. Names are drawn as they are.
"""

from __future__ import annotations

import io
import unicodedata
import warnings
from collections.abc import Sequence
from threading import Lock
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis.report import Section

MOST = 40  # systems that still have a line each on one page
LONGEST = 32  # letters of a name beside the axis; the table has all of them
# Which columns hold score and interval, how they are marked, and how far off the line.
SERIES = {
    "calibrated": (("calibrated", "low", "high"), "o", "#1f4e79", -0.12),
    "mean": (("mean", "mean low", "mean high"), "D", "#b35900", 0.12),
}
UNSHOWN = {"Cc", "Cn", "Cs"}  # control characters, no characters, halves of one
STYLE: dict[Any, Any] = {
    "svg.hashsalt": "parley",
    "svg.fonttype": "path",
    "font.family": "DejaVu Sans",
    "font.size": 8,
}
_settings = Lock()  # what Matplotlib is set to is the same for all threads


def chart(section: Section) -> str | None:
    """Return a picture of a ranking, titled by its finding; None where there is none to draw."""
    frame = section.frame
    shown = [name for name, each in SERIES.items() if {"system", *each[0]} <= {*frame}]
    if "beats next" not in frame or not shown or not 1 < len(frame) <= MOST:
        return None
    with _settings, mpl.rc_context(STYLE), warnings.catch_warnings():
        # Letters that the font lacks are boxes here; the table has the name.
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        return _drawn(clean(section.title), frame, shown)


def told(section: Section) -> str:
    """Say in words what the picture shows, for whoever does not see it."""
    names = ", ".join(str(name) for name in section.frame["system"])
    return f"{section.title} Dots with 95% intervals, from first to last: {names}."


def clean(text: str) -> str:
    """Return `text` on one line, without what neither XML nor a font can hold."""
    letters = " ".join(text.split())
    return "".join("\ufffd" if unicodedata.category(c) in UNSHOWN else c for c in letters)


def _drawn(title: str, frame: pd.DataFrame, shown: Sequence[str]) -> str:
    figure = Figure(figsize=(7, 0.8 + 0.3 * len(frame)), layout="constrained")
    axes = figure.add_subplot()
    for name in shown:
        _dots(axes, name, frame)
    names = [_short(clean(str(each))) for each in frame["system"]]
    axes.set_yticks(range(len(frame)), names, parse_math=False)
    axes.invert_yaxis()
    axes.grid(axis="x", color="#d0d0d0", linewidth=0.6)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel("score, with 95% interval")
    figure.legend(loc="outside upper right", ncols=len(shown), frameon=False, fontsize="small")
    stream = io.StringIO()
    figure.savefig(stream, format="svg", metadata={"Title": title, "Date": None})
    return stream.getvalue()


def _dots(axes: Axes, name: str, frame: pd.DataFrame) -> None:
    (score, low, high), marker, color, off = SERIES[name]
    values = frame[[score, low, high]].to_numpy(dtype=float)
    lines = np.arange(len(frame)) + off
    axes.hlines(lines, values[:, 1], values[:, 2], color=color, linewidth=1.6)
    axes.plot(values[:, 0], lines, marker, color=color, markersize=4.5, label=name)


def _short(name: str) -> str:
    return name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…"
