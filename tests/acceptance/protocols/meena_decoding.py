"""Row of MEENA's figures 6 to 8: scores by number of candidates and decoding."""

from __future__ import annotations

import csv
import io
import json
import os
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial

from analysis import Report, Section, get_report, read
from tests.acceptance.protocols.meena_tables import Row, ssa
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
LOG_P, SHARE = "-3.2", "0.31"  # what a machine computes: of a token; as F1 or distinct
SCORES = ("sensibleness", "specificity", "ssa")
# A bot that often says a mark only is not let in: of its candidates longer ones stand first.
LONG = {"bot": "markov", "rank_by": "gnmt", "alpha": "3", "max_tokens": "4"}
PEOPLE = "15"
FEWEST = 8  # replies decided, of 10 contexts
PATIENCE = "300"  # seconds for 400 candidates, on a busy machine
REPORT = "meena_ssa_decoding"
Change = Callable[[Row], Row | None]


def a_ssan(shell: Shell) -> Shown:
    """N = 20 is best of both decodings in all three charts; what is no label has none."""
    with _patient():
        words = ("--people", PEOPLE, "--systems", _systems(shell))
        found = simulated(shell, "meena_static", *words)
    text, report = shell.analysis(found.export, "--report", REPORT), _report(found.export)
    by_hand = {name: ssa(found.table("ratings"), name) for name in CELLS}
    charts = {each.key: each for each in report.sections if each.chart}
    whole = charts.keys() == set(SCORES) and all(
        _is_whole(charts[score], {name: values[at] for name, values in by_hand.items()})
        and charts[score].title in text
        for at, score in enumerate(SCORES)
    )
    best = {_best(each, drawn) for each in charts.values() for drawn in ("base", "full")}
    fewer = _edited(shell, found, "few", lambda row: _without(row, LEFT_OUT))
    missing = [line for line in _lines(shell, fewer) if "Missing: " in line]
    likely = _refusal(shell, _edited(shell, found, "likely", partial(_labeled, LOG_P)))
    shared = _lines(shell, _edited(shell, found, "shared", partial(_labeled, SHARE)))
    no_label = [line for line in shared if f"{SHARE} is no label: people answer" in line]
    holds = whole and best == {"n20-base", "n20-full"} and "Missing" not in text
    holds &= len(missing) > 0 and all("N = 400, T = 1, top-k 40." in line for line in missing)
    holds &= f"value is {LOG_P}; right would be a number from 0 to 1" in likely
    holds &= len(no_label) > 0 and not any("has the highest" in line for line in shared)
    told = "; ".join(each.title for each in charts.values())
    return shell.shown(
        holds,
        f"{found.line}; {told}; best of each decoding {', '.join(sorted(best))}; without "
        f"{LEFT_OUT}: {missing[:1]}; log P as labels: {likely[-120:]}; F1 or distinct: "
        f"{no_label[:1]}",
    )


@contextmanager
def _patient() -> Iterator[None]:
    """Let bots of the simulated server take longer for a reply."""
    before = os.environ.get("BOT_SECONDS")
    os.environ["BOT_SECONDS"] = PATIENCE
    try:
        yield
    finally:
        os.environ.pop("BOT_SECONDS")
        if before is not None:
            os.environ["BOT_SECONDS"] = before


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


def _lines(shell: Shell, export: str) -> list[str]:
    return shell.analysis(export, "--report", REPORT).splitlines()


def _refusal(shell: Shell, export: str) -> str:
    """Return why the command refuses a table; blank where it does not."""
    try:
        shell.analysis(export, "--report", REPORT)
    except RuntimeError as error:
        return " ".join(str(error).split())
    return ""


def _is_whole(section: Section, by_hand: Mapping[str, float]) -> bool:
    """Tell whether all cells have their score and its interval, in the table and the chart."""
    rows = section.frame.to_dict("records")
    bounded = all(row["low"] <= row["estimate"] <= row["high"] > row["low"] for row in rows)
    cells = {row["system"]: (row["N"], row["decoding"], row["n"] >= FEWEST) for row in rows}
    wanted = {name: (n, _decoding(t, k), True) for name, (n, t, k, _) in CELLS.items()}
    if cells != wanted or len(rows) != len(CELLS) or not bounded or section.chart is None:
        return False
    near = all(abs(row["estimate"] - by_hand[row["system"]]) < 1e-6 for row in rows)
    return near and section.chart.kind == "intervals" and len(section.chart.rows) == len(CELLS)


def _decoding(temperature: float, top_k: int) -> str:
    return f"T = {temperature:g}, {f'top-k {top_k}' if top_k else 'whole vocabulary'}"


def _best(section: Section, drawn: str) -> str:
    rows = section.frame[section.frame["system"].str.endswith(f"-{drawn}")]
    return str(rows.sort_values("estimate").iloc[-1]["system"]) if len(rows) else ""


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
