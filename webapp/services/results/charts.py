"""Charts of the results page as Vega-Lite specifications, with their data inside.

Long because each kind of chart is one specification, best read in one piece.

Apart because charts speak the language of the chart library, pages do not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import wrap
from typing import Any

from analysis.report import Chart, chance

Spec = dict[str, Any]
Rows = Sequence[Mapping[str, Any]]

# Each has a contrast of 3 or more against both the light and the dark page; shapes differ too.
FIRST, SECOND = "#1f8a94", "#c2703d"
LOSES, EVEN, WINS = "#8f4a1d", "#5c666b", "#0b6a72"  # white text on each of them is readable
TEXT = {"labelFontSize": 12, "titleFontSize": 12}
CONFIG = {"axis": TEXT, "legend": TEXT}
FEW = {"tickCount": 6}  # labels that still have room on a phone
TITLE = 26  # letters of a line of an axis title, on a phone
LEGEND = {"orient": "top", "title": None, "labelLimit": 320}


def of(chart: Chart) -> Spec:
    """Return how a report's chart is drawn in the browser."""
    if chart.kind == "intervals":
        return intervals(chart.rows, axis=chart.axis, domain=chart.domain, line=chart.line)
    if chart.kind == "matrix":
        return matrix(chart.rows)
    if chart.kind == "shares":
        return shares(chart.rows, answers=chart.answers)
    if chart.kind == "plane":
        return plane(chart.rows, axis=chart.axis, upright=chart.upright)
    if chart.kind == "grouped":
        return grouped(chart.rows, axis=chart.axis)
    return bars(chart.rows, axis=chart.axis)


def intervals(
    rows: Rows, *, axis: str, domain: tuple[float, float] | None = None, line: float | None = None
) -> Spec:
    """Return points with their 95 % intervals, a system a line, a shape for each `series`.

    rows: system, series, estimate, low, high. line: a value to compare with, such as chance.
    """
    scale: Spec = {"zero": False, "nice": True}
    if domain is not None:
        scale = {"domain": _wide_enough(rows, domain)}
    series = list(dict.fromkeys(str(row["series"]) for row in rows))
    system = {"field": "system", "type": "nominal", "sort": _order(rows), "title": None}
    shared = {
        "y": system | {"axis": {"labelLimit": 140}},
        "yOffset": {"field": "series", "type": "nominal", "sort": series},
        "color": _series_color(series),
    }
    across: Spec = {"type": "quantitative", "scale": scale, "title": _wrapped(axis), "axis": FEW}
    points = {
        "mark": {"type": "point", "filled": True, "size": 90, "opacity": 1},
        "encoding": {
            "x": across | {"field": "estimate"},
            "shape": {
                "field": "series",
                "type": "nominal",
                "scale": {"domain": series, "range": ["circle", "diamond", "square"]},
                "legend": LEGEND if len(series) > 1 else None,
            },
            "tooltip": _tooltip("system", "series", "estimate", "low", "high"),
        },
    }
    spans = {
        "mark": {"type": "rule", "strokeWidth": 2},
        "encoding": {"x": across | {"field": "low"}, "x2": {"field": "high"}},
    }
    layers: list[Spec] = [{"encoding": shared, "layer": [spans, points]}]
    if line is not None:
        layers.append(
            {
                "data": {"values": [{"line": line}]},
                "mark": {"type": "rule", "strokeDash": [4, 4]},
                "encoding": {"x": {"field": "line", "type": "quantitative"}},
            }
        )
    return {"config": CONFIG, "data": _values(rows), "height": {"step": 22}, "layer": layers}


def matrix(rows: Rows) -> Spec:
    """Return P(row beats column) as shaded squares with their numbers. rows: system, other, p."""
    order = _order(rows)
    return {
        "config": CONFIG,
        "data": _values([{**row, "shown": chance(row["p"])} for row in rows]),
        "height": {"step": 40},
        "encoding": {
            "y": {"field": "system", "type": "nominal", "sort": order, "title": "this system"},
            "x": {
                "field": "other",
                "type": "nominal",
                "sort": order,
                "title": "beats this one",
                "axis": {"labelAngle": -35, "labelLimit": 110},
            },
        },
        "layer": [
            {
                "mark": "rect",
                "encoding": {
                    "color": {
                        "field": "p",
                        "type": "quantitative",
                        "scale": {"domain": [0, 0.5, 1], "range": [LOSES, EVEN, WINS]},
                        "legend": None,
                    },
                    "tooltip": _tooltip("system", "other", "p"),
                },
            },
            {
                "mark": {"type": "text", "color": "white", "fontSize": 11},
                "encoding": {"text": {"field": "shown", "type": "nominal"}},
            },
        ],
    }


def shares(rows: Rows, *, answers: Sequence[str]) -> Spec:
    """Return how the answers are spread, a bar a system. rows: system, answer, rank, count."""
    return {
        "config": CONFIG,
        "data": _values(rows),
        "height": {"step": 34},
        "mark": "bar",
        "encoding": {
            "y": {"field": "system", "type": "nominal", "sort": _order(rows), "title": None},
            "x": {
                "field": "count",
                "type": "quantitative",
                "stack": "normalize",
                "title": "share of answers",
                "axis": {"format": "%", "tickCount": 5},
            },
            "color": {
                "field": "answer",
                "type": "ordinal",
                "sort": list(answers),
                "scale": {"scheme": "viridis"},
                "legend": LEGEND | {"columns": _columns(answers)},
            },
            "order": {"field": "rank", "type": "quantitative"},
            "tooltip": _tooltip("system", "answer", "count"),
        },
    }


def plane(rows: Rows, *, axis: str, upright: str) -> Spec:
    """Return points with their names, and lines. rows: series, name, x, y, joined."""
    series = list(dict.fromkeys(str(row["series"]) for row in rows))
    across: Spec = {"type": "quantitative", "scale": {"zero": False}, "axis": FEW}
    whole = all(float(row["x"]).is_integer() for row in rows)
    steps: Spec = {"axis": FEW | {"tickMinStep": 1, "format": "d"}} if whole else {}
    shared = {
        "x": across | {"field": "x", "title": _wrapped(axis)} | steps,
        "y": across | {"field": "y", "title": _wrapped(upright)},
    }
    color = _series_color(series)
    dash = {"field": "series", "type": "nominal", "sort": series, "legend": None}
    points: Spec = {
        "transform": [{"filter": "!datum.joined"}],
        "layer": [
            {
                "mark": {"type": "point", "filled": True, "size": 80, "opacity": 1},
                "encoding": {"color": color, "tooltip": _tooltip("name", "x", "y")},
            },
            {
                "mark": {"type": "text", "align": "left", "dx": 7, "dy": -7},
                "encoding": {"text": {"field": "name"}},
            },
        ],
    }
    lines: Spec = {
        "transform": [{"filter": "datum.joined"}],
        "mark": {"type": "line", "strokeWidth": 2},
        "encoding": {
            "color": color,
            "strokeDash": dash,
            "order": {"field": "x", "type": "quantitative"},
        },
    }
    layer = [lines, points]
    data = _values(rows)
    return {"config": CONFIG, "data": data, "height": 280, "encoding": shared, "layer": layer}


def grouped(rows: Rows, *, axis: str) -> Spec:
    """Return a bar for each series of each system. rows: system, series, value."""
    series = list(dict.fromkeys(str(row["series"]) for row in rows))
    names = {"field": "system", "type": "nominal", "sort": _order(rows), "title": None}
    return {
        "config": CONFIG,
        "data": _values(rows),
        "height": {"step": 20},
        "mark": "bar",
        "encoding": {
            "y": names | {"axis": {"labelLimit": 140}},
            "yOffset": {"field": "series", "type": "nominal", "sort": series},
            "x": {"field": "value", "type": "quantitative", "title": _wrapped(axis), "axis": FEW},
            "color": _series_color(series),
            "tooltip": [*_tooltip("system", "series"), {"field": "value", "format": ".3f"}],
        },
    }


def _series_color(series: Sequence[str]) -> Spec:
    return {
        "field": "series",
        "type": "nominal",
        "scale": {"domain": list(series), "range": [FIRST, SECOND, EVEN][: len(series)]},
        "legend": LEGEND if len(series) > 1 else None,
    }


def bars(rows: Rows, *, axis: str) -> Spec:
    """Return a bar with its number for each step. rows: step, kind, people."""
    return {
        "config": CONFIG,
        "data": _values(rows),
        "height": {"step": 26},
        "encoding": {
            "y": {
                "field": "step",
                "type": "nominal",
                "sort": [str(row["step"]) for row in rows],
                "title": None,
                "axis": {"labelLimit": 200},
            },
            "x": {
                "field": "people",
                "type": "quantitative",
                "title": axis,
                "axis": {"tickMinStep": 1},
            },
        },
        "layer": [
            {
                "mark": {"type": "bar"},
                "encoding": {
                    "color": {
                        "field": "kind",
                        "type": "nominal",
                        "scale": {"domain": ["reached", "lost"], "range": [FIRST, SECOND]},
                        "legend": None,
                    }
                },
            },
            {
                "mark": {"type": "text", "align": "left", "dx": 5},
                "encoding": {"text": {"field": "people", "type": "quantitative"}},
            },
        ],
    }


def _wide_enough(rows: Rows, domain: tuple[float, float]) -> list[float]:
    """Return the domain, wider where an interval leaves it: a calibrated one may."""
    ends = [float(row[end]) for row in rows for end in ("low", "high") if row[end] is not None]
    return [min(domain[0], *ends), max(domain[1], *ends)] if ends else list(domain)


def _wrapped(title: str) -> list[str]:
    return wrap(title, TITLE)


def _columns(answers: Sequence[str]) -> int:
    """Return how many entries of the legend fit beside each other on a phone."""
    longest = max(map(len, answers), default=1)
    return 7 if longest <= 2 else 4 if longest <= 6 else 2


def _order(rows: Rows) -> list[str]:
    return list(dict.fromkeys(str(row["system"]) for row in rows))


def _values(rows: Rows) -> Spec:
    return {"values": [dict(row) for row in rows]}


def _tooltip(*fields: str) -> list[Spec]:
    numbers = {"estimate", "low", "high", "p", "x", "y"}
    return [
        {"field": name, "type": "quantitative", "format": ".3f"}
        if name in numbers
        else {"field": name, "type": "nominal"}
        for name in fields
    ]
