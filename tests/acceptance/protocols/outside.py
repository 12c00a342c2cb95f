"""Rows of protocols in no seed: ACUTE-Eval, and the nine questions with their short mode."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any

from scipy.stats import binomtest

from evaluation.registry import get_protocol
from evaluation.serialized import to_json
from tests.acceptance.protocols.nlp4convai_tables import Row, compared, printed_tables
from tests.acceptance.shell import Shell, Shown
from tests.acceptance.through_pages import Simulated, passed, simulated

REFUSED = "tests/webapp/views/refused/test_speakers.py"
KNOWN = ("expert", "novice")  # of pairs whose answer is known, the better one first
GATE = 0.75
STARS = ((0.001, "***"), (0.01, "**"), (0.05, "*"))
NINE = {  # in order, and the points of each scale
    "enjoyment": 4,
    "interestingness": 4,
    "inquisitiveness": 4,
    "listening": 4,
    "repetitiveness": 3,
    "fluency": 4,
    "sense": 4,
    "humanness": 4,
    "persona": 2,
}
SHORT = ("enjoyment", "persona")
FEWEST = 20  # who came to the end


def x_p1(shell: Shell) -> Shown:
    """Binomial tests by hand; whoever misses known answers is stopped, and counts nowhere."""
    found = simulated(shell, "acute_eval")
    table = printed_tables(shell.analysis(found.export, "--report", "acute_eval"))[0]
    wrong = list(_untrue(table, compared(found.table("ratings"), "preferred")))
    right, outcomes = _known(found), _outcomes(found)
    stopped = {name for name, outcome in outcomes.items() if outcome == "ONBOARDING"}
    below = {name for name, marks in right.items() if fmean(marks) < GATE}
    counted = {row["rater"] for row in found.table("ratings")}
    gate = stopped == below and counted == set(right) - below and not counted & stopped
    gate &= min(len(stopped), len(counted)) > 0 and set(right) <= set(outcomes)
    gate &= {outcomes[name] for name in set(outcomes) - set(right)} <= {"FULL"}  # came too late
    gate &= 1 in {sum(right[name]) for name in stopped}  # one of two is below the gate
    whole = Counter(sum(right[name]) for name in counted)
    systems = {row["system"] for row in found.table("ratings")}
    holds = gate and not wrong and len(table) == 3 and not systems & set(KNOWN)
    told = ", ".join(f"{row['system']} {row['win fraction']} (p {row['p']})" for row in table)
    pages = passed(shell, REFUSED)
    return shell.shown(
        holds and set(whole) == {2},
        f"{found.line}; binomial p as by hand: {told}; {len(stopped)} of {len(right)} raters below "
        f"{GATE} of known answers are stopped and count nowhere; no tie, a reason, and silence on "
        f"the page: {pages} tests{'; '.join(['', *wrong])}",
    )


def x_p2(shell: Shell) -> Shown:
    """Nine questions in order; with its first and last alone it asks and brings what CA-P1 does."""
    whole, crowd = simulated(shell, "nine_questions"), simulated(shell, "convai2_crowd")
    short = simulated(shell, shell.written("nine_questions_short.json", json.dumps(_short())))
    orders = {tuple(row["question"] for row in rows) for rows in _by_rater(whole).values()}
    scales = {row["question"]: _points(row) for row in whole.table("ratings")}
    begun = Counter(row["side"] for row in whole.table("messages") if row["seq"] == "1")
    nine = orders == {tuple(NINE)} and scales == NINE and min(begun["0"], begun["1"]) > 0
    nine &= len(_by_rater(whole)) >= FEWEST
    asked = [_asked(each) for each in (short, crowd)]
    metrics = [_metrics(shell, each) for each in (short, crowd)]
    same = asked[0] == asked[1] == {SHORT: FEWEST + 4} and metrics[0] == metrics[1]
    same &= _columns(short) == _columns(crowd) and {name for _, name in metrics[0]} >= set(SHORT)
    equal = to_json(get_protocol("convai2_crowd")), _short()
    first = [_questions(each)[0] for each in equal]
    kinds = [[question["kind"] for question in _questions(each)] for each in equal]
    holds = nine and same and first[0] == first[1] and kinds[0] == kinds[1]
    return shell.shown(
        holds,
        f"{whole.line}; nine questions in order, of {sorted(set(scales.values()))} points, begun "
        f"by a bot {begun['1']} and a person {begun['0']} times; short: {short.line}; CA-P1: "
        f"{crowd.line}; both ask {' and '.join(SHORT)}, on the same scales, and have the same "
        f"{len(metrics[0])} results by metric and question",
    )


# --- two conversations side by side -----------------------------------------------------------


def _untrue(
    table: Sequence[Row], judged: Mapping[tuple[str, str], Sequence[tuple[int, str]]]
) -> Iterator[str]:
    """Yield in what printed win fractions and their tests are not those of the answers."""
    pairs = {tuple(sorted((row["system"], row["other system"]))): row for row in table}
    if set(pairs) != set(judged) or len(judged) != 3:
        yield f"pairs {sorted(pairs)}, judged {sorted(judged)}"
        return
    for pair, answers in judged.items():
        row = pairs[pair]
        wins = sum(pair[won - 1] == row["system"] for won, _ in answers if won)
        p = float(binomtest(wins, len(answers), 0.5).pvalue)
        stars = next((mark for most, mark in STARS if p < most), "n.s.")
        wanted = (f"{wins / len(answers):.3f}", f"{p:.3f}", stars, str(len(answers)))
        if (row["win fraction"], row["p"], row["stars"], row["judgments"]) != wanted:
            yield f"{' and '.join(pair)}: {dict(row)}, not {wanted}"
        if any(tie or not won for won, tie in answers):
            yield f"{' and '.join(pair)}: a tie"


def _known(found: Simulated) -> dict[str, list[bool]]:
    """Return of each rater which pairs of known answers they got right."""
    marks = defaultdict[str, list[bool]](list)
    for row in found.table("ratings_all"):
        if row["question"] == "preferred" and row["system"] == KNOWN[0]:
            marks[row["rater"]].append(row["value"] == "1")
    return dict(marks)


def _outcomes(found: Simulated) -> dict[str, str]:
    return {row["participant"]: row["outcome"] for row in found.table("participants")}


# --- nine questions, and two ------------------------------------------------------------------


def _short() -> dict[str, Any]:
    """Return the protocol with the first and the last of its questions alone."""
    value = to_json(get_protocol("nine_questions"))
    kept = [each for each in _questions(value) if each["name"] in SHORT]
    _rating(value)["each"] = kept
    return value | {"name": "nine_questions_short", "title": "Short form of the nine questions"}


def _rating(value: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = next(step for step in value["steps"] if "each" in step)
    return found


def _questions(value: Mapping[str, Any]) -> list[dict[str, Any]]:
    return list(_rating(value)["each"])


def _by_rater(found: Simulated) -> dict[str, list[Row]]:
    """Return the answers of each rater, in the order in which they stand on the page."""
    rows = defaultdict[str, list[Row]](list)
    for row in sorted(found.table("ratings"), key=lambda row: int(row["answer"])):
        rows[row["rater"]].append(row)
    return dict(rows)


def _points(row: Row) -> int:
    return int(row["scale_high"]) - int(row["scale_low"]) + 1


def _asked(found: Simulated) -> Counter[tuple[str, ...]]:
    """Count the people by the questions that they answered, in order."""
    return Counter(tuple(row["question"] for row in rows) for rows in _by_rater(found).values())


def _columns(found: Simulated) -> set[tuple[str, ...]]:
    names = ("question", "level", "scale_low", "scale_high", "better")
    return {tuple(row[name] for name in names) for row in found.table("ratings")}


def _metrics(shell: Shell, found: Simulated) -> set[tuple[str, str]]:
    """Return which results the analysis has, by metric and question."""
    rows = json.loads(shell.analysis(found.export, "--json"))
    return {(row["metric"], row["question"]) for row in rows if row["question"] in SHORT}
