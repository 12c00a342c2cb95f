"""Rows of two replies side by side: THRED's preferences, and event causality's two criteria."""

from __future__ import annotations

import json
from math import isclose
from pathlib import Path

from tests.acceptance.protocols.nlp4convai_tables import compared, printed_tables
from tests.acceptance.shell import Shell, Shown
from tests.acceptance.table import NotShown
from tests.acceptance.through_pages import Simulated, passed, simulated

REFUSED = "tests/webapp/views/refused/test_pairs.py"
PRINTED = Path("../shared/spec/reference_results.json")
PAIRS = [("alpha", "beta"), ("alpha", "gamma"), ("beta", "gamma")]
CRITERIA = ("word_coherency", "dialogue_continuity")
OPTIONS = ("A", "B", "neither")
ROUNDED = 0.005  # of a share that is printed with two decimals
FEWEST = 30  # judgments of a pair
BOTH_SAME = 0.9  # most of the judgments in which two questions have one answer


def nl_p2(shell: Shell) -> Shown:
    """Shares of wins, losses and either tie are those of the answers, and sum to 100."""
    found = simulated(shell, "graded_pairs")
    answers = compared(found.table("ratings"), "better")
    side = printed_tables(shell.analysis(found.export, "--report", "thred_human"))[1]
    rows = {(row["system"], row["against"]): row for row in side}
    told, holds = [], set(answers) == {("alpha", "beta"), ("alpha", "gamma")}
    for (one, other), judged in answers.items():
        counts = [
            sum(won == 1 for won, _ in judged),
            sum(won == 2 for won, _ in judged),
            sum(tie == "equally good" for _, tie in judged),
            sum(tie == "equally bad" for _, tie in judged),
        ]
        shares = [100 * count / len(judged) for count in counts]
        row, names = rows[one, other], ("wins", "losses", "equally good", "equally bad")
        cells = [float(row[name].partition(" ")[0]) for name in names]
        near = all(abs(a - b) <= 0.05 + 1e-9 for a, b in zip(cells, shares, strict=True))
        holds &= near and isclose(sum(shares), 100) and abs(sum(cells) - 100) < 0.21
        holds &= shares[0] > shares[1] > 0
        holds &= len(judged) == int(row["judgments"]) >= FEWEST
        told.append(f"{one} and {other} {' + '.join(f'{cell:.1f}' for cell in cells)}")
    ties = {tie for judged in answers.values() for _, tie in judged} - {""}
    holds &= ties == {"equally good", "equally bad"}
    pages = passed(shell, f"{REFUSED}::test_equally_good_and_equally_bad_are_two_answers")
    return shell.shown(
        holds,
        f"{found.line}; wins, losses, equally good, equally bad: {'; '.join(told)}; each sums to "
        f"100; the page offers both ties and takes one answer: {pages} tests",
    )


def nl_p5(shell: Shell) -> Shown:
    """Both questions are asked of every pair, answered apart, and have shares that sum to 100."""
    found = simulated(shell, "coherency_pairs")
    shares = _as_answered(found)
    told = _report(shell, found)
    near = all(
        abs(told[key][option] - shares[key][option]) <= ROUNDED + 1e-9
        for key in shares
        for option in OPTIONS
    )
    sums = [sum(each[option] for option in OPTIONS) for each in shares.values()]
    same, of = _agreeing(found)
    pages = passed(shell, REFUSED)
    holds = set(told) == set(shares) and near and all(isclose(each, 100) for each in sums)
    holds &= len(shares) == len(CRITERIA) * len(PAIRS) and 0 < same < BOTH_SAME * of
    return shell.shown(
        holds,
        f"{found.line}; two questions, answered alike in {same} of {of} judgments; {len(sums)} "
        f"rows of A + B + neither sum to 100; one left out is refused by the page: {pages} tests",
    )


def a_eventh(shell: Shell) -> Shown:
    """Three pairs by two criteria from an export; the printed 102.00 stands, and is reported."""
    if not PRINTED.exists():
        raise NotShown("reference_results.json of the specification is not here")
    found = simulated(shell, "coherency_pairs")
    told, shares = _report(shell, found), _as_answered(found)
    own = sorted(told) == sorted((name, *pair) for name in CRITERIA for pair in PAIRS)
    own &= all(abs(each["sum"] - 100) < 2 * ROUNDED for each in told.values())
    counts = {int(each["judgments"]) for each in told.values()}
    own &= counts == {len(_judgments(found)) // len(PAIRS)} and min(counts) >= FEWEST
    own &= all(abs(told[key]["A"] - shares[key]["A"]) <= ROUNDED + 1e-9 for key in shares)
    text = shell.analysis(found.export, "--report", "event_preferences")
    printed, wanted = _as_printed(text), _of_the_paper()
    odd = [key for key, row in printed.items() if abs(row["sum"] - 100) > 0.05]
    kept = printed == wanted and odd == [("6", "word coherency")]
    kept &= "adds up to 102.00 in print" in " ".join(text.split())
    return shell.shown(
        own and kept,
        f"{found.line}; {len(told)} rows, three pairs by each criterion, {min(counts)} judgments "
        f"each, A + B + neither 100; of the paper's {len(printed)} columns one adds up to "
        f"{printed['6', 'word coherency']['sum']:.2f}, as printed and with a note",
    )


# --- what was answered, reported and printed --------------------------------------------------


def _report(shell: Shell, found: Simulated) -> dict[tuple[str, str, str], dict[str, float]]:
    """Return the report's own rows by criterion and pair."""
    text = shell.analysis(found.export, "--report", "event_preferences")
    return {
        (row["criterion"], row["system A"], row["system B"]): {
            name: float(row[name]) for name in (*OPTIONS, "sum", "judgments")
        }
        for row in printed_tables(text)[0]
    }


def _as_answered(found: Simulated) -> dict[tuple[str, str, str], dict[str, float]]:
    """Return the share of each option by criterion and pair, counted in the table of ratings."""
    return {
        (name, *pair): {
            option: 100 * sum(won == wanted for won, _ in judged) / len(judged)
            for option, wanted in zip(OPTIONS, (1, 2, 0), strict=True)
        }
        for name in CRITERIA
        for pair, judged in compared(found.table("ratings"), name).items()
    }


def _judgments(found: Simulated) -> dict[tuple[str, str], dict[str, tuple[str, ...]]]:
    """Return the ranks of each rater and pair by question, in order of the systems' names."""
    acts: dict[tuple[str, str], dict[str, tuple[str, ...]]] = {}
    for row in sorted(found.table("ratings"), key=lambda row: row["system"]):
        act = acts.setdefault((row["rater"], row["item"]), {})
        act[row["question"]] = (*act.get(row["question"], ()), row["value"])
    return acts


def _agreeing(found: Simulated) -> tuple[int, int]:
    """Count the judgments in which both questions have one answer, and all; each has both."""
    acts = _judgments(found).values()
    if any(set(act) != set(CRITERIA) for act in acts):
        raise ValueError("a judgment has not both questions")
    return sum(act[CRITERIA[0]] == act[CRITERIA[1]] for act in acts), len(acts)


def _as_printed(text: str) -> dict[tuple[str, str], dict[str, float]]:
    return {
        (row["table"], row["criterion"]): {name: float(row[name]) for name in (*OPTIONS, "sum")}
        for row in printed_tables(text)[-1]
    }


def _of_the_paper() -> dict[tuple[str, str], dict[str, float]]:
    """Return the figures of tables 4 to 6 from the specification, with their sums."""
    known = json.loads(PRINTED.read_text(encoding="utf-8"))["NLP4CONVAI"]["event_causality_human"]
    found = {}
    for number in ("4", "5", "6"):
        for name, cells in known[f"table{number}"].items():
            row = dict(zip(OPTIONS, cells.values(), strict=True))
            total = round(sum(cells.values()), 1)  # 99.99 and 100.01 are 100 within rounding
            found[number, name.replace("_", " ")] = row | {"sum": total}
    return found
