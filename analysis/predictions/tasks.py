"""Tasks beside open-domain chat: the metrics of a file of cases, per system (M-PERIPH).

A line of the file is one case: an object with `task`, the `system` that did it (may be absent where
there is one system only), and for each task:

    answers      "dialogue": "d1", "response": "...", "golds": ["a person's answer", "another's"]
    mentions     "ranked": ["the best guess", "the next", ...], "gold": "the right one"
    expressions  "predicted": [...], "gold": [...], both of one sentence, both may be empty
    states       "predicted": {"slot": "value"}, "gold": {...}, both after one turn
    slots        "distance": 2 (turns ago), "predicted": true (carried over), "gold": false

Answers have QuAC's word F1 (the best over people's answers), CoQA's (the mean over leaving each
person out), and HEQ: the share of questions (Q), and of dialogues with all their questions (D), in
which the system's F1 is not below people's. People's is that of each answer with the others', so
that a question with one answer of people has no part in HEQ. Mentions have P@1, P@2 and P@3;
expressions precision, recall and F1 over sentences; states joint goal accuracy; slots F1 by
distance (3 and more together). Formulas and sources are in `analysis/predictions/peripheral.py`.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from analysis.arguments import tasks as parser
from analysis.predictions import peripheral
from analysis.tables.schema import BadTable, Problem

Case = Mapping[str, Any]
Scores = dict[str, float | None]
UNNAMED = "system"  # of a file that names none
RANKS = (1, 2, 3)
BAD = 2


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and all(map(_is_text, value))


def _is_state(value: object) -> bool:
    return isinstance(value, dict) and all(isinstance(each, str) for each in value.values())


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


TEXT = ("a text", _is_text)
SOME = ("a list of one text or more", lambda value: bool(value) and _are_texts(value))
ANY = ("a list of texts", _are_texts)
STATE = ("an object of slots and their values, all texts", _is_state)
FLAG = ("true or false", lambda value: isinstance(value, bool))
Field = tuple[str, Callable[[Any], bool]]
FIELDS: dict[str, dict[str, Field]] = {
    "answers": {
        "dialogue": TEXT,
        "response": ("a text, which may be empty", lambda value: isinstance(value, str)),
        "golds": SOME,
    },
    "mentions": {"ranked": SOME, "gold": TEXT},
    "expressions": {"predicted": ANY, "gold": ANY},
    "states": {"predicted": STATE, "gold": STATE},
    "slots": {
        "distance": ("a whole number from 0", _is_count),
        "predicted": FLAG,
        "gold": FLAG,
    },
}


def read_cases(path: Path) -> list[dict[str, Any]]:
    """Return the cases of a file.

    Raises:
        BadTable: the file is empty or not UTF-8, or a line is no case; all such lines are named.
        OSError: the file cannot be read.
    """
    try:
        lines = path.read_bytes().decode("utf-8-sig").split("\n")
    except UnicodeDecodeError as error:
        problem = Problem(None, "content", f"unreadable ({error})", "text in UTF-8")
        raise BadTable(path.name, [problem]) from error
    cases: list[dict[str, Any]] = []
    problems: list[Problem] = []
    numbered = [(number, line) for number, line in enumerate(lines, start=1) if line.strip()]
    for number, line in numbered:
        case, wrong = _case(number, line)
        cases.append(case)
        problems += wrong
    if not numbered:
        problems.append(Problem(None, "contents", "empty", "a line per case"))
    if problems:
        raise BadTable(path.name, problems, len(numbered))
    return cases


def _case(number: int, line: str) -> tuple[dict[str, Any], list[Problem]]:
    try:
        case = json.loads(line)
    except (ValueError, RecursionError) as error:
        return {}, [Problem(number, "line", f"not JSON ({error})", "one JSON object")]
    if not isinstance(case, dict):
        return {}, [Problem(number, "line", f"a JSON {type(case).__name__}", "an object")]
    case.setdefault("system", UNNAMED)
    task = case.get("task")
    fields = FIELDS.get(task) if isinstance(task, str) else None
    if fields is None:
        return case, [Problem(number, "task", _shown(case, "task"), f"one of {', '.join(FIELDS)}")]
    wrong = {"system": TEXT, **fields}
    return case, [
        Problem(number, name, _shown(case, name), right)
        for name, (right, fits) in wrong.items()
        if name not in case or not fits(case[name])
    ]


def _shown(case: Case, name: str) -> str:
    return json.dumps(case[name], ensure_ascii=False)[:40] if name in case else "missing"


# --- metrics ----------------------------------------------------------------------------------


def scores(cases: Iterable[Case]) -> list[dict[str, Any]]:
    """Return a row per task, system and metric; None where a metric is not defined."""
    grouped: dict[tuple[str, str], list[Case]] = defaultdict(list)
    for case in cases:
        grouped[case["task"], case["system"]].append(case)
    order = list(FIELDS)
    return [
        {"task": task, "system": system, "metric": metric, "estimate": value, "n": len(found)}
        for (task, system), found in sorted(
            grouped.items(), key=lambda each: (order.index(each[0][0]), each[0][1])
        )
        for metric, value in METRICS[task](found).items()
    ]


def _answers(cases: Sequence[Case]) -> Scores:
    best = [peripheral.answer_f1(case["response"], case["golds"]) for case in cases]
    fair = [peripheral.left_out_f1(case["response"], case["golds"]) for case in cases]
    dialogues: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for case, reached in zip(cases, fair, strict=True):
        human = peripheral.human_f1(case["golds"])
        if human is not None:
            dialogues[case["dialogue"]].append((reached, human))
    both = peripheral.heq(list(dialogues.values())) if dialogues else (None, None)
    return {
        "F1 (QuAC)": sum(best) / len(best),
        "F1 (CoQA)": sum(fair) / len(fair),
        "HEQ-Q": both[0],
        "HEQ-D": both[1],
    }


def _mentions(cases: Sequence[Case]) -> Scores:
    ranked, gold = [case["ranked"] for case in cases], [case["gold"] for case in cases]
    return {f"P@{k}": peripheral.precision_at(ranked, gold, k) for k in RANKS}


def _expressions(cases: Sequence[Case]) -> Scores:
    predicted, gold = ([set(case[name]) for case in cases] for name in ("predicted", "gold"))
    found = peripheral.expression_scores(predicted, gold)
    return {"F1": found.f1, "precision": found.precision, "recall": found.recall}


def _states(cases: Sequence[Case]) -> Scores:
    predicted, gold = ([case[name] for case in cases] for name in ("predicted", "gold"))
    return {"joint goal accuracy": peripheral.joint_goal_accuracy(predicted, gold)}


def _slots(cases: Sequence[Case]) -> Scores:
    slots = (
        peripheral.Carried(
            distance=case["distance"], gold=case["gold"], predicted=case["predicted"]
        )
        for case in cases
    )
    by_distance: Scores = {**peripheral.carryover_f1(slots)}
    whole = {"F1": by_distance.pop("all")}
    return whole | {f"F1 at {name}": value for name, value in by_distance.items()}


# The first metric of each is that by which systems are compared in one sentence.
METRICS: dict[str, Callable[[Sequence[Case]], Scores]] = {
    "answers": _answers,
    "mentions": _mentions,
    "expressions": _expressions,
    "states": _states,
    "slots": _slots,
}


# --- showing ----------------------------------------------------------------------------------


def tables(rows: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield a sentence about the best system and a table, a row per system, for each task."""
    for task, part in pd.DataFrame(rows).groupby("task", sort=False):
        metrics = list(dict.fromkeys(part["metric"]))
        wide = part.pivot(index=["system", "n"], columns="metric", values="estimate")
        table = wide.reindex(columns=metrics).reset_index().rename_axis(columns=None)
        best = table.iloc[int(table[metrics[0]].argmax())]
        finding = f"{task}: {best['system']} has the highest {metrics[0]} of {len(table)}"
        yield f"{finding}: {best[metrics[0]]:.3f}.", table.rename(columns={"n": "cases"})


def main(arguments: Sequence[str]) -> int:
    """Print the metrics of a file; return 2, with the reason on stderr, where it cannot be read."""
    options = parser().parse_args(arguments)
    try:
        rows = scores(read_cases(options.file))
    except BadTable as error:
        print(error, file=sys.stderr)
        return BAD
    except OSError as error:
        print(f"{options.file}: cannot be read ({error.strerror or error})", file=sys.stderr)
        return BAD
    if options.json:
        print(json.dumps(rows, indent=1, ensure_ascii=False, allow_nan=False))
        return 0
    for finding, table in tables(rows):
        print(
            finding,
            table.to_string(index=False, float_format="{:.3f}".format, na_rep="-"),
            "",
            sep="\n",
        )
    return 0
