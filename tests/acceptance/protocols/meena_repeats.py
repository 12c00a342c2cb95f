"""Rows of an evaluation that is run again: SD of SSA, and agreement over evaluations."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from statistics import fmean, stdev

from tests.acceptance.protocols.meena_tables import (
    LABELS,
    SYSTEMS,
    Row,
    agreement,
    alpha,
    is_near,
    phases,
    printed,
    ssa,
    votes_of,
)
from tests.acceptance.shell import Shell, Shown
from tests.acceptance.through_pages import simulated

TIMES = 7
AGAIN = ("--times", f"{TIMES}")
NAMES = {"sensibleness": "sensible", "specificity": "specific"}
MEASURES = {"agreement, percent": agreement, "alpha": alpha}


def me_p8(shell: Shell) -> Shown:
    """Seven static and seven interactive evaluations have an SD of SSA per system."""
    static = simulated(shell, "meena_static", *AGAIN)
    live = simulated(shell, "meena_interactive", *AGAIN, "--people", "12")
    told, holds = list[str](), True
    for found, kind in ((static, "static"), (live, "interactive")):
        report = shell.analysis(found.study, "--report", "meena_repeatability")
        shown = {row["system"]: row for row in printed(report, "system", "evaluations", "sd")}
        parts = _evaluations(found.table("ratings", found.study))
        holds &= len(parts) == TIMES and set(shown) == set(SYSTEMS)
        for name, row in shown.items():
            scores = [_score(part, name) for part in parts.values()]
            holds &= (row["evaluations"], row["evaluation"]) == (f"{TIMES}", kind)
            holds &= is_near(row["mean"], fmean(scores)) and is_near(row["sd"], stdev(scores))
        spreads = {name: float(row["sd"]) for name, row in shown.items()}
        holds &= max(spreads.values()) > 0
        listed = ", ".join(f"{name} {sd:.2f}" for name, sd in spreads.items())
        told.append(f"{kind} {listed}")
    return shell.shown(
        holds, f"SD of SSA over {TIMES} evaluations, in points, as by hand: {'; '.join(told)}"
    )


def _evaluations(rows: Sequence[Row]) -> dict[str, list[Row]]:
    found = defaultdict[str, list[Row]](list)
    for row in rows:
        found[row["campaign"]].append(row)
    return found


def _score(rows: Sequence[Row], system: str) -> float:
    """Return the SSA of an evaluation: of majorities, or of the single labels of a chat."""
    if {row["votes"] for row in rows} == {"1"}:
        of = [
            [int(r["value"]) for r in rows if (r["system"], r["question"]) == (system, name)]
            for name in LABELS
        ]
        return 50 * sum(map(fmean, of))
    return ssa(rows, system)[2]


def a_table1(shell: Shell) -> Shown:
    """Mean and SD over evaluations are right, one alone has no SD, one without alpha is named."""
    found = simulated(shell, "meena_static", *AGAIN)
    seven, same = _spread(shell, found.study, found.table("ratings", found.study))
    alone, one = _spread(shell, found.export, found.table("ratings"))
    lacking = str(phases(shell).folder / "evaluations.zip")
    rows = phases(shell).table("ratings", lacking)
    named, others = _spread(shell, lacking, rows)
    (without,) = (
        name for name, part in _evaluations(rows).items() if {r["votes"] for r in part} == {"1"}
    )
    reasons = [f"Caution: {without}: {label} has no alpha, because" for label in NAMES]
    each = [row for row in printed(named, "evaluation", "items") if row["evaluation"] == without]
    holds = same == dict.fromkeys(same, TIMES) and one == dict.fromkeys(one, 1)
    holds &= others == dict.fromkeys(others, len(_evaluations(rows)) - 1)
    holds &= "one evaluation only, so no SD" in alone and "has no alpha" not in seven
    holds &= all(reason in named for reason in reasons) and len(each) == len(NAMES)
    holds &= {(row["alpha"], row["items"]) for row in each} == {("-", "0")}
    told = next(line for line in seven.splitlines() if line.startswith("Alpha of"))
    return shell.shown(
        holds,
        f"{told} Mean and SD of {TIMES} evaluations equal those by hand; of one there is no SD "
        f"(“one evaluation only”); of {len(_evaluations(rows))} the one that nobody judged twice "
        f"({without}) is named with the reason, and n is {len(_evaluations(rows)) - 1}",
    )


def _spread(shell: Shell, export: str, rows: Sequence[Row]) -> tuple[str, dict[str, int]]:
    """Return the report, and the n of each of its rows that is as by hand; -1 of another."""
    text = shell.analysis(export, "--report", "meena_agreement")
    found = dict[str, int]()
    for row in printed(text, "label", "measure", "sd", "reason"):
        votes = [
            list(votes_of(part, NAMES[row["label"]]).values())
            for part in _evaluations(rows).values()
        ]
        twice = [each for each in votes if max(map(len, each)) > 1]
        values = [MEASURES[row["measure"]](each) for each in twice]
        if len(values) > 1:
            right = is_near(row["sd"], stdev(values)) and row["reason"] == "-"
        else:
            right = (row["sd"], row["reason"]) == ("-", "one evaluation only: no spread")
        right &= is_near(row["mean"], fmean(values)) and row["n"] == f"{len(values)}"
        found[f"{row['label']} {row['measure']}"] = len(values) if right else -1
    if len(found) != len(NAMES) * len(MEASURES):
        raise RuntimeError(f"{export}: only {', '.join(found)}")
    return text, found
