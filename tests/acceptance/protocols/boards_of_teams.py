"""Row of the two boards: metrics of which teams enter some, and people's calibrated scores."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import pairwise
from statistics import fmean
from typing import Any

from tests.acceptance.protocols.meena_tables import is_near, printed
from tests.acceptance.shell import Shell, Shown
from tests.acceptance.table import NotShown
from tests.acceptance.through_pages import LONGEST, SEED, Simulated, passed, simulated
from tests.live import ROOT, environment

Rows = list[dict[str, str]]
RESULTS = ROOT.parent / "shared" / "spec" / "reference_results.json"
REPORT = ("--report", "convai2_boards")
METRICS = ("ppl", "hits@1", "F1")
LIKED = ("beta", "gamma", "alpha")  # as people were made to, the best first
BASELINE = "baseline"
PAGES = "tests/webapp/views/refused/test_boards.py"


def a_board(shell: Shell) -> Shown:
    """Both boards are in order, with dashes, baselines below, and raw beside calibrated."""
    held, (stored, order) = _competition(shell), _stored()
    text = shell.analysis(str(held.folder / "predictions.jsonl"), held.study, *REPORT)
    same = printed(text[text.index("The same rule") :], "rank", "team", *METRICS)
    holds = _cells(same) == stored and _is_order(order)
    own = printed(text[text.index("Automatic board") :], "rank", "team", *METRICS)
    holds &= [(row["rank"], row["team"]) for row in own] == MIXED
    holds &= [[row["team"] for row in own if row[name] != "-"] for name in METRICS] == ENTERED
    people = held.table("ratings", held.study)
    human = printed(text[text.index("Human board") :], "team", "calibrated", "raw")
    holds &= [row["team"] for row in human] == [*LIKED, BASELINE] and _is_ordered(human, people)
    turned = _turned(shell)
    pages = passed(shell, PAGES)
    return shell.shown(
        holds and bool(turned),
        f"table 3's 23 teams in the printed order, three baselines below with a dash for a rank, "
        f"and {sum(row.count('-') for row in stored)} dashes; taking what is missing as worst or "
        f"as best gives other orders; simulated with other metrics per team: "
        f"{' > '.join(team for _, team in MIXED)}; people: "
        f"{_told(human)}; "
        f"{turned}; dashes and metrics left out on the competition's page: {pages} tests",
    )


MIXED = [("1", "alpha"), ("2", "gamma"), ("3", "beta"), ("-", BASELINE)]
ENTERED = [[], ["gamma"], ["alpha", "gamma", "beta", BASELINE]]  # by metric


def _competition(shell: Shell) -> Simulated:
    """Hold a competition in which a team enters a metric that the others leave out."""
    folder = shell.folder / "simulated" / "competition_mixed"
    words = ["tests.simulate", "--competition", "--mixed", "--seed", SEED]
    shell.commands.append(f"script/simulate {' '.join(words[1:])}")
    if not folder.exists():
        folder.mkdir(parents=True)
        done = subprocess.run(
            [sys.executable, "-m", *words, "--keep", str(folder)],
            cwd=ROOT,
            env=environment(folder),
            capture_output=True,
            text=True,
            timeout=LONGEST,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(f"{shell.commands[-1]}: {done.stdout[-400:]}{done.stderr[-400:]}")
    return Simulated(folder, "a competition")


# --- by metrics -----------------------------------------------------------------------------------


def _stored() -> tuple[list[tuple[str, ...]], list[dict[str, Any]]]:
    """Return the lines that table 3 has, as a board prints them, and its rows."""
    if not RESULTS.exists():
        raise NotShown(f"needs the paper's tables in {RESULTS}")
    rows = json.loads(RESULTS.read_text("utf-8"))["ConvAI2"]["table3"]["rows"]
    rows = [{**row, "F1": row["f1"]} for row in rows]
    lines = [
        (str(row["rank"] or "-"), row["team"], *(_cell(row[name], name) for name in METRICS))
        for row in rows
    ]
    return lines, rows


def _cell(score: float | None, name: str) -> str:
    return "-" if score is None else f"{score:.{1 if name == 'hits@1' else 2}f}"


def _cells(rows: Rows) -> list[tuple[str, ...]]:
    return [tuple(row[name] for name in ("rank", "team", *METRICS)) for row in rows]


def _is_order(rows: Sequence[Mapping[str, Any]]) -> bool:
    """Tell whether of what is missing the middle alone gives the printed order of 23 teams."""
    teams = [row for row in rows if row["rank"] is not None]
    names = [row["team"] for row in teams]
    found = [_sorted(teams, left_out) == names for left_out in (len(teams) / 2, len(teams), 1)]
    return len(teams) == 23 and len(rows) == 26 and found == [True, False, False]


def _sorted(teams: Sequence[Mapping[str, Any]], left_out: float) -> list[str]:
    """Return the teams by their smallest rank, then the next, where what is missing has this."""

    def key(row: Mapping[str, Any]) -> list[float]:
        ranks = list[float]()
        for name in [name for name in METRICS if row[name] is not None]:
            ahead = [
                SIGN[name] * (each[name] - row[name]) for each in teams if each[name] is not None
            ]
            ranks.append(1 + sum(gap > 0 for gap in ahead))
        first, *others = sorted(ranks)
        return [first, *sorted([*others, *[left_out] * (len(METRICS) - len(ranks))])]

    return [row["team"] for row in sorted(teams, key=key)]


SIGN = {"ppl": -1, "hits@1": 1, "F1": 1}


# --- by people ------------------------------------------------------------------------------------


def _answers(rows: Rows) -> dict[str, list[float]]:
    found = defaultdict[str, list[float]](list)
    for row in rows:
        if row["question"] == "enjoyment":
            found[row["system"]].append(float(row["value"]))
    return found


def _is_ordered(board: Rows, ratings: Rows) -> bool:
    """Tell whether teams stand by the calibrated score, with the raw mean of their answers."""
    answers = _answers(ratings)
    teams = [row for row in board if row["team"] != BASELINE]
    scores = [float(row["calibrated"]) for row in teams]
    holds = all(one > other for one, other in pairwise(scores))
    holds &= [row["rank"] for row in board[: len(teams)]] == [f"{n + 1}" for n in range(len(teams))]
    holds &= all(row["rank"] in ("-", "") for row in board[len(teams) :])
    holds &= {row["team"] for row in board} == set(answers)
    holds &= all(is_near(row["raw"], fmean(answers[row["team"]])) for row in board)
    return holds and all(row["n"] == f"{len(answers[row['team']])}" for row in board)


def _turned(shell: Shell) -> str:
    """Tell where calibration turns the raw order: a team that a single answer puts first or last.

    Of a campaign's answers all but one about a team are left out, the best or the worst of it.
    """
    rows = simulated(shell, "convai2_crowd", "--people", "100").table("ratings")
    for team in _answers(rows):
        for best in (True, False):
            fewer = _with_one(rows, team, best=best)
            file = shell.written("a_board.csv", _as_csv(fewer))
            board = printed(shell.analysis(file, *REPORT), "team", "calibrated", "raw")
            by_raw = sorted(board, key=lambda row: -float(row["raw"]))
            if not _is_ordered(board, fewer):
                return ""
            if by_raw != board:
                cells = _told(board)
                return f"where one answer about {team} is left, the raw order is another: {cells}"
    return ""


def _told(board: Rows) -> str:
    return ", ".join(f"{row['team']} {row['calibrated']} (raw {row['raw']})" for row in board)


def _with_one(rows: Rows, team: str, *, best: bool) -> Rows:
    of = [row for row in rows if row["question"] == "enjoyment" and row["system"] == team]
    kept = sorted(of, key=lambda row: float(row["value"]))[-1 if best else 0]["conversation"]
    return [row for row in rows if row["system"] != team or row["conversation"] == kept]


def _as_csv(rows: Rows) -> str:
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()
