"""Row of static against interactive: two campaigns of the same systems, compared in one report."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from statistics import fmean

from tests.acceptance.protocols.meena_tables import (
    LABELS,
    SYSTEMS,
    Row,
    is_near,
    printed,
    ssa,
)
from tests.acceptance.shell import Shell, Shown
from tests.acceptance.through_pages import Simulated, simulated

REPORT = ("--report", "meena_static_interactive")
NEAR = 0.006  # of a number that is printed with two decimals
GAP = 20  # points that planted differences are over, at the least
PARTING = "tests.simulate.parting.parting"
FILE = {  # alpha is better while chatting, beta with contexts; gamma has another option in each
    "callables": PARTING,
    "systems": [
        {
            "name": "alpha",
            "bot": "callable",
            "options": {"function": PARTING},
            "share": 0.95,
            "in": {"meena_static": {"share": 0.5}},
        },
        {
            "name": "beta",
            "bot": "parrot",
            "options": {"opening": "Hello there!"},
            "share": 0.5,
            "in": {"meena_static": {"share": 0.95}},
        },
        {
            "name": "gamma",
            "bot": "parrot",
            "share": 0.05,
            "in": {"meena_static": {"options": {"opening": "Hello!"}}},
        },
    ],
}
PAIRED = SYSTEMS[:2]
PRINTED = {  # interactive less static SSA, as the paper's scores give it
    "Human": ("ssa", 4),
    "DialoGPT 762M": ("ssa", -3),
    "Cleverbot": ("ssa", 12),
}
GREETING = re.compile(r"(hi|hello|hey)\b", re.IGNORECASE)
GOODBYE = re.compile(r"\b(goodbye|good night|bye|see you|take care)\W*$", re.IGNORECASE)
Scores = dict[str, tuple[float, float, float]]
SCORES = ("sensibleness", "specificity", "ssa")


def a_statint(shell: Shell) -> Shown:
    """Two campaigns give each system's difference with an interval, and who is not paired."""
    file = shell.written("statint.json", json.dumps(FILE))
    static = simulated(shell, "meena_static", "--people", "10", "--systems", file)
    live = simulated(shell, "meena_interactive", "--people", "36", "--systems", file)
    text = shell.analysis(live.export, static.export, *REPORT)
    still, chats = static.table("ratings"), live.table("ratings")
    gaps = _gaps(
        {name: _pooled(chats, name) for name in PAIRED}, {name: ssa(still, name) for name in PAIRED}
    )
    rows = printed(text, "system", "score", "difference")
    holds = len(rows) == len(gaps) and all(_is_gap(row, gaps) for row in rows)
    holds &= gaps["alpha", "ssa"] > GAP and gaps["beta", "ssa"] < -GAP
    (out,) = printed(text, "system", "reason")
    holds &= out["system"] == "gamma" and out["reason"].startswith("settings differ: interactive:")
    holds &= '"opening": "Hello!"' in text
    shares, right = _shares(text, {"static": static, "interactive": live})
    stored = {row["system"]: row for row in printed(text[text.index("As printed") :], *SCORES)}
    holds &= all(float(stored[name][score]) == gap for name, (score, gap) in PRINTED.items())
    holds &= float(stored["Cleverbot"]["specificity"]) == 17
    told = ", ".join(
        f"{row['system']} {float(row['difference']):+.1f} ({row['low']} to {row['high']})"
        for row in rows
        if row["score"] == "ssa"
    )
    return shell.shown(
        holds and right,
        f"as printed: Human +4, DialoGPT -3, Cleverbot +12, specificity +17; simulated, "
        f"interactive less static SSA as by hand: {told}; gamma, whose option is another in each, "
        f"is not paired; greetings and goodbyes among labeled turns as by hand: {shares}",
    )


def _pooled(rows: Sequence[Row], system: str) -> tuple[float, float, float]:
    """Return the figures of the single labels of a chat, in percent."""
    if {row["votes"] for row in rows} != {"1"}:
        raise RuntimeError("somebody labels what another said")
    of = [
        [int(row["value"]) for row in rows if (row["system"], row["question"]) == (system, name)]
        for name in LABELS
    ]
    sensible, specific = (100 * fmean(values) for values in of)
    return sensible, specific, (sensible + specific) / 2


def _gaps(live: Scores, still: Scores) -> dict[tuple[str, str], float]:
    return {
        (name, score): live[name][k] - still[name][k]
        for name in PAIRED
        for k, score in enumerate(SCORES)
    }


def _is_gap(row: Row, gaps: Mapping[tuple[str, str], float]) -> bool:
    """Tell whether a line has this difference, within its interval."""
    gap = gaps[row["system"], row["score"]]
    is_within = float(row["low"]) <= gap <= float(row["high"])
    is_inside = float(row["low"]) < float(row["high"]) and is_within
    return is_near(row["difference"], gap) and is_inside


# --- greetings and goodbyes -----------------------------------------------------------------------


def _shares(text: str, campaigns: Mapping[str, Simulated]) -> tuple[str, bool]:
    """Return what is printed of polite turns, and whether it is as by hand and tells systems apart.

    Of contexts turns are the replies; in chats every bot opens with a greeting.
    """
    rows = printed(text, "system", "evaluation", "greeting", "goodbye")
    by_hand = {
        (name, mode): _polite(found, name) for mode, found in campaigns.items() for name in SYSTEMS
    }
    right = {(row["system"], row["evaluation"]) for row in rows} == set(by_hand)
    for row in rows:
        greeting, goodbye, either, turns = by_hand[row["system"], row["evaluation"]]
        right &= row["turns"] == f"{turns}" and abs(float(row["either"]) - either) < NEAR
        right &= abs(float(row["greeting"]) - greeting) < NEAR
        right &= abs(float(row["goodbye"]) - goodbye) < NEAR
        if either or row["low"] != "-":  # where no turn is one there is no interval
            right &= float(row["low"]) < either < float(row["high"])
    goodbyes = {name: by_hand[name, "interactive"][1] for name in SYSTEMS}
    right &= goodbyes["alpha"] > max(goodbyes["beta"], goodbyes["gamma"])
    right &= min(by_hand[name, "interactive"][0] for name in SYSTEMS) > 0
    told = "; ".join(f"{r['system']} {r['evaluation']} {r['either']} % of {r['turns']}"
                     for r in rows)  # fmt: skip
    return told, right


def _polite(found: Simulated, system: str) -> tuple[float, float, float, int]:
    """Return the percent of labeled turns that greet, take leave, or either, and the turns."""
    labeled = {
        (row["conversation"], row["message_seq"])
        for row in found.table("ratings")
        if row["system"] == system
    }
    texts = [
        row["text"]
        for row in found.table("messages")
        if (row["conversation"], row["seq"]) in labeled
    ]
    greets = [bool(GREETING.match(text)) for text in texts]
    leaves = [bool(GOODBYE.search(text)) for text in texts]
    either = [one or other for one, other in zip(greets, leaves, strict=True)]
    return 100 * fmean(greets), 100 * fmean(leaves), 100 * fmean(either), len(labeled)
