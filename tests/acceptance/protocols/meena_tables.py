"""Rows of MEENA's tables, from campaigns whose systems differ as the paper's do."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from analysis import Report, Section, get_report, read
from tests.acceptance.shell import Shell, Shown
from tests.acceptance.through_pages import Simulated, simulated

CELLS = {  # N, temperature and top-k of a system, and what is planted
    "n1-base": (1, 0.88, 0, 0.3),
    "n20-base": (20, 0.88, 0, 0.95),
    "n400-base": (400, 0.88, 0, 0.6),
    "n1-full": (1, 1.0, 40, 0.2),
    "n20-full": (20, 1.0, 40, 0.85),
    "n400-full": (400, 1.0, 40, 0.5),
}
LEFT_OUT = "n400-full"
# What a machine computes, in place of labels: log P of a token, and a share as F1 or distinct.
COMPUTED = ("-3.2", "0.31")
SCORES = ("ssa", "sensibleness", "specificity")
# A bot that often says a mark only is not let in: of its candidates longer ones stand first.
LONG = {"bot": "markov", "rank_by": "gnmt", "alpha": "3", "max_tokens": "6"}
FEWEST = 15  # replies decided, of 20 contexts
REPORT = "meena_ssa_decoding"
Row = Mapping[str, str]
Change = Callable[[Row], Row | None]


def a_ssan(shell: Shell) -> Shown:
    """N = 20 is best of both decodings in all three charts; what is no label has none."""
    found = simulated(shell, "meena_static", "--people", "30", "--systems", _systems(shell))
    text = shell.analysis(found.export, "--report", REPORT)
    report = _report(found.export)
    charts = {each.key: each for each in report.sections if each.key in SCORES}
    whole = charts.keys() == set(SCORES) and all(map(_is_whole, charts.values()))
    best = {_best(each, drawn) for each in charts.values() for drawn in ("base", "full")}
    few = _report(_edited(shell, found, "few", lambda row: _without(row, LEFT_OUT)))
    others = [
        _report(_edited(shell, found, f"computed{place}", partial(_labeled, value)))
        for place, value in enumerate(COMPUTED)
    ]
    wanted = "Missing: N = 400, T = 1, top-k 40."
    holds = whole and best == {"n20-base", "n20-full"} and "Missing" not in text
    holds &= few.findings[1:] == (wanted,) and _fails(others)
    told = "; ".join(f"{key}: {each.title}" for key, each in charts.items())
    result = f"{found.line}; {told}; best of each decoding {', '.join(sorted(best))}; without "
    result += f"{LEFT_OUT}: {few.findings[-1]}; log P or F1 as labels: {others[0].findings[0]}"
    return shell.shown(holds, result)


def _systems(shell: Shell) -> str:
    rows = [
        {
            "name": name,
            "bot": "sample_and_rank",
            "share": share,
            "options": LONG | {"number": str(n), "temperature": str(t), "top_k": str(k)},
        }
        for name, (n, t, k, share) in CELLS.items()
    ]
    return shell.written("decodings.json", json.dumps({"systems": rows}))


def _report(export: str) -> Report:
    ratings = read(export).ratings
    assert ratings is not None
    found: Report = get_report(REPORT)(ratings)
    return found


def _is_whole(section: Section) -> bool:
    """Tell whether all cells have an interval in the table and in the chart."""
    rows = section.frame.to_dict("records")
    bounded = all(row["low"] <= row["estimate"] <= row["high"] > row["low"] for row in rows)
    cells = {row["system"]: (row["N"], row["decoding"], row["n"] >= FEWEST) for row in rows}
    wanted = {name: (n, _decoding(t, k), True) for name, (n, t, k, _) in CELLS.items()}
    return bounded and cells == wanted and _is_drawn(section)


def _is_drawn(section: Section) -> bool:
    chart = section.chart
    return chart is not None and chart.kind == "intervals" and len(chart.rows) == len(CELLS)


def _decoding(temperature: float, top_k: int) -> str:
    return f"T = {temperature:g}, {f'top-k {top_k}' if top_k else 'whole vocabulary'}"


def _best(section: Section, drawn: str) -> str:
    rows = section.frame[section.frame["system"].str.endswith(f"-{drawn}")]
    return str(rows.sort_values("estimate").iloc[-1]["system"]) if len(rows) else ""


def _fails(reports: Sequence[Report]) -> bool:
    """Tell whether each report says that a value is no label, and has no table of its own."""
    return all(
        f"{float(value):g} is no label" in report.findings[0]
        and not {each.key for each in report.sections} & set(SCORES)
        for value, report in zip(COMPUTED, reports, strict=True)
    )


def _without(row: Row, system: str) -> Row | None:
    return None if row["system"] == system else row


def _labeled(value: str, row: Row) -> Row:
    return {**row, "value": value}


def _edited(shell: Shell, found: Simulated, name: str, change: Change) -> str:
    """Return a copy of the export whose ratings are changed; those that become None are not in."""
    rows = [after for row in found.table("ratings") if (after := change(row)) is not None]
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    path = shell.path(f"{name}.zip")
    with zipfile.ZipFile(found.export) as old, zipfile.ZipFile(path, "w") as new:
        for each in old.namelist():
            if not each.startswith("ratings"):
                new.writestr(each, old.read(each))
        new.writestr("ratings.csv", text.getvalue())
    return path
