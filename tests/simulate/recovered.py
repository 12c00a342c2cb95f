"""Recovery of a simulated campaign: the numbers of the analysis, and whether they are the planted.

A number comes from `python -m analysis EXPORT --json`, a text from the export itself.
"""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import isclose
from pathlib import Path
from statistics import fmean
from typing import Any

from scipy.stats import binomtest

from evaluation import Protocol, Question
from tests.simulate import admission
from tests.simulate.admission import Admitted
from tests.simulate.campaign import EXPORT, LEDGER
from tests.simulate.planted import HUMAN, expected_level, is_of_people, planted, questions
from webapp.crowd import ledger
from webapp.crowd.people import Quality

ROOT = Path(__file__).parents[2]
MEANS = (
    "likert",
    "persona_detection",
    "human_accuracy",
    "intended_agreement",
    "label_score",
    "win_rate",
)
LENGTH = "characters_per_message"
NEAR = 0.25  # of a scale's length, between a planted level and the one recovered
SURE = 0.05  # that guesses do not tell characters so often
STAY = 0.75  # of those who came, at the least

Row = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Recovered:
    """A campaign as its export and the analysis have it, and what the crowd noted of it."""

    results: Sequence[Row]  # of the analysis
    ratings: Sequence[Row]
    outcomes: Sequence[str]
    conversations: int
    messages: Sequence[Row] = ()
    sent: Sequence[str] = ()  # messages that the server said it has
    texts: Sequence[str] = ()  # that were sent as answers
    admitted: Admitted = field(default_factory=Admitted)

    def row(self, question: str, system: str) -> Row | None:
        """Return the analysis's row of a mean or share, if it has one."""
        found = (
            row
            for metric in MEANS
            for row in self.results
            if (row["metric"], row["question"], row["system"]) == (metric, question, system)
        )
        return next(found, None)

    @property
    def lengths(self) -> Row:
        """The analysis's row of how long the messages of people are."""
        found = (r for r in self.results if (r["metric"], r["system"]) == (LENGTH, HUMAN))
        return next(found, {"n": 0, "estimate": None})

    def level(self, question: Question, system: str) -> float | None:
        """Return a mean or share, 0 for the lowest and 1 for the highest there can be."""
        row = self.row(question.name, system)
        if row is None or row["estimate"] is None or not row["n"]:
            return None
        low, high = question.scale if question.is_scale and question.scale else (0.0, 1.0)
        return (float(row["estimate"]) - low) / (high - low)


def read(folder: Path, protocol: Protocol) -> Recovered:
    """Analyze the export of a simulated campaign."""
    tables = dict(_tables(folder / EXPORT))
    notes = list(ledger.read(folder / LEDGER))
    conversations = {row["conversation"] for row in tables["ratings"] + tables["messages"]}
    return Recovered(
        results=_analysis(folder / EXPORT),
        ratings=tables["ratings"],
        outcomes=[row["outcome"] for row in tables["participants"]],
        conversations=len(conversations - {""}),
        messages=tables["messages"],
        sent=list(_messages_sent(notes)),
        texts=list(_texts_sent(notes, protocol)),
        admitted=admission.read(tables["admission"], notes, protocol),
    )


def _analysis(export: Path) -> list[Row]:
    command = [sys.executable, "-m", "analysis", str(export), "--json"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"python -m analysis {export} --json: {done.stderr[-800:]}")
    found: list[Row] = json.loads(done.stdout)
    return found


def _tables(export: Path) -> Iterator[tuple[str, list[Row]]]:
    with zipfile.ZipFile(export) as archive:
        for name in ("ratings", "participants", "messages", "admission"):
            text = archive.read(f"{name}.csv").decode()
            yield name, list(csv.DictReader(io.StringIO(text, newline="")))


def _messages_sent(notes: Sequence[Row]) -> Iterator[str]:
    settled = {note["id"] for note in notes if note["what"] == "ok"}
    for note in notes:
        frame = note.get("frame", {})
        if note.get("id") in settled and frame.get("type") == "message":
            yield frame["text"]


def _texts_sent(notes: Sequence[Row], protocol: Protocol) -> Iterator[str]:
    written = {question.name for question in questions(protocol) if question.level == "text"}
    for note in notes:
        for name, answer in note.get("answers", {}).items():
            if name.rpartition(".")[2] in written:
                yield answer


# --- what differs from what was planted -----------------------------------------------------------


def problems(protocol: Protocol, found: Recovered) -> Iterator[str]:
    """Yield, as sentences, in what a campaign is not what was planted."""
    truth = planted(protocol)
    completed = found.outcomes.count("COMPLETED")
    came = len(found.outcomes) - admission.not_admitted(found.outcomes)
    if completed < max(1, STAY * came):
        yield f"only {completed} of {came} people came to the end"
    yield from admission.problems(protocol, found.admitted, found.outcomes)
    if protocol.chat is not None:
        yield from _of_messages(protocol, found)
    if found.ratings and not _differ(found.ratings):
        yield "no two people answered any question differently"
    for question in questions(protocol):
        if question.level == "text":
            yield from _of_texts(question, found)
        elif missing := [name for name in truth if found.level(question, name) is None]:
            yield f"{question.name}: the analysis has no number for {', '.join(missing)}"
        elif question.personas_beside() is not None:
            yield from _of_detection(question, truth, found)
        elif len(truth) > 1:
            yield from _of_order(question, truth, found)
        else:
            yield from _of_level(protocol, question, truth, found)


def _differ(ratings: Sequence[Row]) -> bool:
    """Tell whether some question has two answers, texts aside."""
    given = {(row["question"], row["value"]) for row in ratings if row["level"] != "text"}
    return len(given) > len({question for question, _ in given})


def _of_order(question: Question, truth: Mapping[str, Quality], found: Recovered) -> Iterator[str]:
    wanted = sorted(truth, key=lambda name: -truth[name][question.name])
    levels = [found.level(question, name) or 0.0 for name in wanted]
    if any(better <= worse for better, worse in pairwise(levels)):
        told = ", ".join(f"{name} {level:.2f}" for name, level in zip(wanted, levels, strict=True))
        yield f"{question.name}: not in the planted order: {told}"


def _of_level(
    protocol: Protocol, question: Question, truth: Mapping[str, Quality], found: Recovered
) -> Iterator[str]:
    """Compare the one system's level."""
    (system,) = truth
    wanted, level = expected_level(protocol, question, truth[system]), found.level(question, system)
    if level is None or abs(level - wanted) > NEAR:
        yield f"{question.name}: {level:.2f} where {wanted:.2f} was planted"


def _of_detection(
    question: Question, truth: Mapping[str, Quality], found: Recovered
) -> Iterator[str]:
    """Compare all answers together with guessing among as many characters."""
    rows = [row for name in truth if (row := found.row(question.name, name)) is not None]
    answers = sum(row["n"] for row in rows)
    right = round(sum(row["n"] * row["estimate"] for row in rows))
    chance = 1 / (1 + (question.personas_beside() or 0))
    if binomtest(right, answers, chance, alternative="greater").pvalue > SURE:
        yield f"{question.name}: {right} of {answers} right is no better than chance"


def _of_texts(question: Question, found: Recovered) -> Iterator[str]:
    numbers = {row["metric"] for row in found.results if row["question"] == question.name}
    if numbers:
        yield f"{question.name}: a text, of which numbers were made: {', '.join(sorted(numbers))}"
    values = [row["value"] for row in found.ratings if row["question"] == question.name]
    if not values:
        yield f"{question.name}: no text is in the export"
    elif changed := [value for value in values if value not in found.texts]:
        yield f"{question.name}: {changed[0]!r} is in the export, and nobody wrote it"


def _of_messages(protocol: Protocol, found: Recovered) -> Iterator[str]:
    """Compare what people said with the export, and with the analysis where it measures people."""
    stored = [row["text"] for row in found.messages if row["system"] == HUMAN]
    if not found.sent or sorted(stored) != sorted(found.sent):
        yield f"messages: people sent {len(found.sent)}, the export has {len(stored)}, or others"
    if not is_of_people(protocol):
        return
    sent, mean = len(found.sent), fmean(map(len, found.sent or [""]))
    row = found.lengths
    if row["n"] != sent or not isclose(row["estimate"] or 0.0, mean):
        yield (
            f"messages: {sent} of {mean:.2f} characters were sent, the analysis has {row['n']} of "
            f"{row['estimate']}"
        )


# --- in short -------------------------------------------------------------------------------------


def orders(protocol: Protocol, found: Recovered) -> tuple[str, str]:
    """Return what was planted, and what was recovered, in a few words each.

    That is the order of systems, of all questions together; of one system its levels; of people
    whom nobody rates, how many messages they sent.
    """
    truth = planted(protocol)
    ranked = [one for one in questions(protocol) if one.level != "text"]
    ranked = [one for one in ranked if one.personas_beside() is None]
    if not ranked:
        return f"{len(found.sent)} messages", f"{found.lengths['n']} messages"
    if len(truth) == 1:
        levels = [expected_level(protocol, one, truth[HUMAN]) for one in ranked]
        return _levels(levels), _levels([found.level(one, HUMAN) for one in ranked])
    sums = {name: sum(found.level(one, name) or 0.0 for one in ranked) for name in truth}
    return " > ".join(truth), " > ".join(sorted(sums, key=lambda name: -sums[name]))


def _levels(levels: Sequence[float | None]) -> str:
    return " ".join("-" if level is None else f"{level:.2f}" for level in levels)
