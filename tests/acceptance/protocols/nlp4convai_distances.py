"""Row of THRED's tables: what replies of a campaign have to do with people's grades of them."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping
from statistics import fmean
from typing import Any

import numpy as np

from analysis.text.semantic import penalty_of
from analysis.text.tokens import words
from analysis.text.vectors import glove
from tests.acceptance.protocols.nlp4convai_tables import printed_tables
from tests.acceptance.shell import Shell, Shown
from tests.acceptance.through_pages import Simulated, simulated

Reply = tuple[str, str]  # its system and conversation
# The best repeats what it is told, so the distance of its replies is nothing.
SYSTEMS: list[dict[str, Any]] = [
    {"name": "alpha", "bot": "parrot", "share": 0.95},
    {"name": "beta", "bot": "markov", "share": 0.5, "options": {"max_tokens": "6"}},
    {"name": "gamma", "bot": "markov", "share": 0.05, "options": {"temperature": "1.5"}},
]


def a_thred(shell: Shell) -> Shown:
    """Distances and echoes of replies, and grades of the same replies, from one export."""
    file = shell.written("distances.json", json.dumps({"systems": SYSTEMS}))
    found = simulated(shell, "graded_pairs", "--systems", file)
    learned = shell.written("learned.jsonl", json.dumps(["I walk my dog."] * 20) + "\n")
    asked = (found.export, "--report", "thred_metrics", "--training", learned)
    scale, _, _, people, *_ = printed_tables(shell.analysis(*asked))
    rows = {row["system"]: row for row in scale}
    distances, grades = _distances(found), _grades(found)
    by_hand = {each["name"]: fmean(_of(distances, each["name"])) for each in SYSTEMS}
    correlated = float(
        np.corrcoef([[apart, grades[at]] for at, apart in distances.items()], rowvar=False)[0, 1]
    )
    pearson = next(row for row in people if row["measure"] == "SS Utt.2")
    human = shell.analysis(found.export, "--report", "thred_human")
    holds = set(rows) == set(by_hand) and all(
        abs(_number(rows[name]["SS Utt.2"]) - by_hand[name]) < 0.001 for name in rows
    )
    holds &= by_hand["alpha"] < 1e-6 < min(by_hand["beta"], by_hand["gamma"])
    holds &= abs(float(pearson["Pearson"]) - correlated) < 0.001 and correlated < 0
    holds &= "As printed" in human and "kappa" in human
    told = ", ".join(f"{name} {row['SS Utt.2']}" for name, row in rows.items())
    return shell.shown(
        holds,
        f"{found.line}; as by hand SS of Utt.2 {told}, and Pearson with grades "
        f"{pearson['Pearson']} ({pearson['low']} to {pearson['high']}, n {pearson['n']})",
    )


def _distances(found: Simulated) -> dict[Reply, float]:
    """Return the distance of each reply from the message before it, of the export."""
    vectors, before = glove(), ""
    if vectors is None:
        raise RuntimeError("no word vectors")
    values = dict[Reply, float]()
    for row in found.table("messages"):  # in order, a conversation after the other
        if row["system"]:
            one, other = (vectors.of(words(text)).sum(axis=0) for text in (before, row["text"]))
            lengths = float(np.linalg.norm(one) * np.linalg.norm(other))
            alike = float(one @ other) / lengths if lengths else 0.0  # of words that nobody knows
            at = row["system"], row["conversation"]
            values[at] = penalty_of(row["text"]) * (1 - alike)
        before = row["text"]
    return values


def _grades(found: Simulated) -> dict[Reply, float]:
    """Return each reply's mean grade."""
    given = defaultdict[Reply, list[float]](list)
    for row in found.table("ratings"):
        if row["question"] == "grade":
            given[row["system"], row["conversation"]].append(float(row["value"]))
    return {at: fmean(each) for at, each in given.items()}


def _of(values: Mapping[Reply, float], system: str) -> list[float]:
    return [value for (name, _), value in values.items() if name == system]


def _number(cell: str) -> float:
    return 0.0 if cell.startswith("<") else float(cell)
