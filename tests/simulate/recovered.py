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
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import isclose
from pathlib import Path
from statistics import fmean
from typing import Any

from scipy.stats import binomtest

from evaluation import Choice, NoNonstopOverlap, Protocol, Question, Write
from tests.simulate import admission, transcripts
from tests.simulate.admission import Admitted
from tests.simulate.campaign import EXPORT, LATER, LEDGER, STUDY
from tests.simulate.planted import (
    HUMAN,
    expected_level,
    is_of_people,
    planted,
    questions,
    source_of,
)
from tests.simulate.written import splits
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
    "answer_share",
)
LENGTH = "characters_per_message"
NEAR = 0.25  # of a scale's length, between a planted level and the one recovered
SURE = 0.05  # that guesses do not tell characters so often
MERGED = 0.3  # of the messages, at most: two in a row are one turn
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
    contributions: Sequence[Row] = ()
    held: Sequence[Row] = ()  # messages of other campaigns of the study
    written: Sequence[str] = ()  # texts that people wrote for the protocol
    visits: Sequence[Mapping[str, int]] = ()  # messages that each person sent, day by day
    admitted: Admitted = field(default_factory=Admitted)

    def row(self, question: str, system: str, answer: str = "") -> Row | None:
        """Return the analysis's row of a mean or share, if it has one: of an answer its share."""
        found = (
            row
            for metric in MEANS
            for row in self.results
            if (row["metric"], row["question"], row["system"]) == (metric, question, system)
            and (metric != "answer_share" or row["answer"] == answer)
        )
        return next(found, None)

    @property
    def of_people(self) -> list[str]:
        """The messages of people in the export."""
        return [row["text"] for row in self.messages if row["system"] == HUMAN]

    @property
    def lengths(self) -> Row:
        """The analysis's row of how long the messages of people are."""
        found = (r for r in self.results if (r["metric"], r["system"]) == (LENGTH, HUMAN))
        return next(found, {"n": 0, "estimate": None})

    def level(self, question: Question, system: str) -> float | None:
        """Return a mean or share, 0 for the lowest and 1 for the highest there can be."""
        row = self.row(question.name, system, first_answer(question))
        if row is None or row["estimate"] is None or not row["n"]:
            return None
        low, high = question.scale if question.is_scale and question.scale else (0.0, 1.0)
        return (float(row["estimate"]) - low) / (high - low)


def first_answer(question: Question) -> str:
    """Return the first of a question's answers by name: planted is how often it is given."""
    if isinstance(question, Choice) and not question.is_graded:
        return str(question.options[0].value)
    return ""


def read(folder: Path, protocol: Protocol) -> Recovered:
    """Analyze the export of a simulated campaign."""
    tables = dict(_tables(folder / EXPORT))
    days = [list(ledger.read(path)) for path in _ledgers(folder)]
    notes = [note for day in days for note in day]
    conversations = {row["conversation"] for row in tables["ratings"] + tables["messages"]}
    return Recovered(
        results=_analysis(folder / EXPORT),
        ratings=tables["ratings"],
        outcomes=[row["outcome"] for row in tables["participants"]],
        conversations=len(conversations - {""}),
        messages=tables["messages"],
        sent=list(_messages_sent(notes)),
        texts=list(_texts_sent(notes, protocol)),
        contributions=tables["contributions"],
        held=dict(_tables(folder / STUDY))["messages"] if (folder / STUDY).exists() else (),
        written=[text for note in notes for text in note.get("texts", {}).values()],
        visits=[_counts(day) for day in days],
        admitted=admission.read(tables["admission"], notes, protocol),
    )


def _ledgers(folder: Path) -> list[Path]:
    return [path for path in (folder / LEDGER, folder / LATER) if path.exists()]


def _counts(notes: Sequence[Row]) -> Mapping[str, int]:
    """Return how many messages of each person the server said it has."""
    return Counter(note["person"] for note, _ in _settled(notes))


def _analysis(export: Path) -> list[Row]:
    command = [sys.executable, "-m", "analysis", str(export), "--json"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"python -m analysis {export} --json: {done.stderr[-800:]}")
    found: list[Row] = json.loads(done.stdout)
    return found


def _tables(export: Path) -> Iterator[tuple[str, list[Row]]]:
    with zipfile.ZipFile(export) as archive:
        for name in ("ratings", "participants", "messages", "contributions", "admission"):
            text = archive.read(f"{name}.csv").decode()
            yield name, list(csv.DictReader(io.StringIO(text, newline="")))


def _messages_sent(notes: Sequence[Row]) -> Iterator[str]:
    return (text for _, text in _settled(notes))


def _settled(notes: Sequence[Row]) -> Iterator[tuple[Row, str]]:
    """Yield the messages that the server has, each with its text."""
    settled = {note["id"] for note in notes if note["what"] == "ok"}
    for note in notes:
        frame = note.get("frame", {})
        if note.get("id") in settled and frame.get("type") == "message":
            yield note, frame["text"]


def _texts_sent(notes: Sequence[Row], protocol: Protocol) -> Iterator[str]:
    written = {question.name for question in questions(protocol) if question.level == "text"}
    for note in notes:
        for name, answer in note.get("answers", {}).items():
            if name.rpartition(".")[2] in written:
                yield answer


def phases(folder: Path, protocol: Protocol) -> Iterator[tuple[Protocol, Recovered]]:
    """Yield each phase of the study that the campaign is in, as the study's own export has it."""
    source = source_of(protocol)
    if source is None:
        return
    results = _analysis(folder / STUDY)
    tables = dict(_tables(folder / STUDY))
    for each in (source, protocol):
        mine = {name: _of_phase(rows, each) for name, rows in tables.items()}
        yield (
            each,
            Recovered(
                results=[row for row in results if row["protocol"] == each.name],
                ratings=mine["ratings"],
                outcomes=[row["outcome"] for row in mine["participants"]],
                conversations=len({row["conversation"] for row in mine["messages"]}),
            ),
        )


def repeats(folder: Path, protocol: Protocol, times: int) -> Iterator[str]:
    """Yield in what the export of a repeated campaign is not what was planted."""
    tables = dict(_tables(folder / STUDY))
    people = {row["phase"] for row in tables["participants"] if row["outcome"] == "COMPLETED"}
    if len(people) != times:
        yield f"people completed {len(people)} phases of {times}"
    together = Recovered(
        results=_analysis(folder / STUDY),
        ratings=tables["ratings"],
        outcomes=(),
        conversations=0,
    )
    yield from levels(protocol, together)
    for name, count in _evaluations(folder / STUDY).items():
        if count != str(times):
            yield f"repeatability: {name} has {count} evaluations of {times}"


def _evaluations(export: Path) -> dict[str, str]:
    """Return how often each system was evaluated, as the report of repeatability prints it."""
    command = [sys.executable, "-m", "analysis", str(export), "--report", "meena_repeatability"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    own = done.stdout.partition("Each evaluation")[0].partition("As printed")[0]
    lines = [line.split() for line in own.splitlines()]
    heads = [line for line in lines if line[:3] == ["protocol", "evaluation", "system"]]
    place = heads[0].index("evaluations") if heads else 0
    return {
        line[2]: line[place]
        for line in lines
        if heads and len(line) > place and line[place].isdigit()
    }


def _of_phase(rows: Sequence[Row], protocol: Protocol) -> list[Row]:
    return [row for row in rows if row["phase"] == protocol.name]


# --- what differs from what was planted -----------------------------------------------------------


def problems(protocol: Protocol, found: Recovered) -> Iterator[str]:
    """Yield, as sentences, in what a campaign is not what was planted."""
    completed = found.outcomes.count("COMPLETED")
    is_endless = protocol.chat is not None and protocol.chat.endless
    came = len(found.outcomes) - admission.not_admitted(found.outcomes)
    if not is_endless and completed < max(1, STAY * came):
        yield f"only {completed} of {came} people came to the end"
    yield from admission.problems(protocol, found.admitted, found.outcomes)
    if protocol.chat is not None:
        yield from _of_messages(protocol, found)
    if protocol.write is not None:
        yield from _of_writing(protocol, found)
    if is_endless:
        yield from _of_use(found)
    if found.ratings and not _differ(found.ratings):
        yield "no two people answered any question differently"
    for question in questions(protocol):
        if question.level == "text":
            yield from _of_texts(question, found)
    yield from levels(protocol, found)


def levels(protocol: Protocol, found: Recovered) -> Iterator[str]:
    """Yield, as sentences, which numbers are missing, or not as planted."""
    truth = planted(protocol)
    for question in questions(protocol):
        if question.level == "text":
            continue
        if missing := [name for name in truth if found.level(question, name) is None]:
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


def of_transcripts(found: Recovered, seed: int) -> Iterator[str]:
    """Yield in what labels of imported conversations are not what was planted in messages."""
    lost = found.outcomes.count("COMPLETED") != len(found.outcomes)
    if lost:
        yield "somebody did not come to the end"
    yield from transcripts.problems(found.ratings, found.results, seed)


def orders_of_transcripts(found: Recovered, seed: int) -> tuple[str, str]:
    """Return the systems as planted, and by the SSA of the analysis."""
    planted_order = transcripts.ordered(transcripts.planted_shares(found.ratings, seed))
    scores = {
        name: transcripts.recovered_shares(found.results, name).get("ssa", 0.0)
        for name in planted_order
    }
    return " > ".join(planted_order), " > ".join(sorted(scores, key=lambda name: -scores[name]))


def _of_order(question: Question, truth: Mapping[str, Quality], found: Recovered) -> Iterator[str]:
    wanted = sorted(truth, key=lambda name: -truth[name][question.name])
    levels = [found.level(question, name) or 0.0 for name in wanted]
    shares = [truth[name][question.name] for name in wanted]
    pairs = combinations(zip(shares, levels, strict=True), 2)  # of which equal ones may fall out
    if any(more > less and better <= worse for (more, better), (less, worse) in pairs):
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
    stored = found.of_people
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


def _of_writing(protocol: Protocol, found: Recovered) -> Iterator[str]:
    """Compare what people wrote with the export, sentence by sentence."""
    stored = [row["text"] for row in found.contributions]
    if not stored or sorted(stored) != sorted(found.written):
        yield f"texts: people sent {len(found.written)}, the export has {len(stored)}, or others"
    if states := {row["state"] for row in found.contributions} - {"ACCEPTED"}:
        yield f"texts: accepted all, the export says {', '.join(sorted(states))}"
    firsts = Counter(row["split"] for row in found.contributions if row["number"] == "1")
    wanted = splits(protocol, len(found.outcomes))
    if wanted and firsts != wanted:
        yield f"splits: {dict(firsts)} where {dict(wanted)} were wanted"
    if protocol.write is not None and protocol.write.of_conversations:
        yield from _of_paraphrases(protocol.write, found)
    overlap = NoNonstopOverlap()
    for row in found.contributions:
        if protocol.write is not None and protocol.write.makes == "revision":
            if not row["original"]:
                yield f"texts: “{row['text']}” revises nothing"
            elif copied := overlap.copied(row["text"], (row["original"],)):
                yield f"texts: “{row['text']}” repeats {', '.join(copied)}"


def _of_paraphrases(write: Write, found: Recovered) -> Iterator[str]:
    """Compare what is paraphrased with the messages of the conversations, and with the cuts."""
    said = {(row["conversation"], row["seq"]): row["text"] for row in found.held}
    cuts: dict[str, set[str]] = {}
    for row in found.contributions:
        cuts.setdefault(row["conversation"], set()).add(row["message_seq"])
        if row["original"] != said.get((row["conversation"], row["message_seq"])):
            yield f"texts: “{row['text']}” is linked to no message that was sent"
    for conversation, seqs in cuts.items():
        if write.cuts is not None and len(seqs) > write.cuts:
            yield f"cuts: conversation {conversation} is cut {len(seqs)} times, not {write.cuts}"


def _of_use(found: Recovered) -> Iterator[str]:
    """Compare sessions and returns with who came, and wrote, on which day."""
    sessions = [count for day in found.visits for count in day.values()]
    users = {person for day in found.visits for person in day}
    back = [person for person in users if all(person in day for day in found.visits)]
    if len(found.visits) < 2 or not back:
        yield f"nobody of {len(users)} people wrote on a second day"
    wanted = {
        "return_rate": (len(back) / max(1, len(users)), 0.0),
        "active_days": (len(sessions) / max(1, len(users)), 0.0),
        "exchanges_per_session": (fmean(sessions or [0]), MERGED),
    }
    rows = {row["metric"]: row for row in found.results}
    for name, (value, away) in wanted.items():
        estimate = rows.get(name, {}).get("estimate")
        if estimate is None or not (1 - away) * value - 1e-9 <= estimate <= value + 1e-9:
            yield f"{name}: {estimate} where {value:.2f} was planted"


# --- in short -------------------------------------------------------------------------------------


def orders(protocol: Protocol, found: Recovered) -> tuple[str, str]:
    """Return what was planted, and what was recovered, in a few words each.

    That is the order of systems, of all questions together; of one system its levels; of people
    whom nobody rates, how many messages they sent.
    """
    if protocol.write is not None:
        return f"{len(found.written)} texts", f"{len(found.contributions)} texts"
    truth = planted(protocol)
    ranked = [one for one in questions(protocol) if one.level != "text"]
    ranked = [one for one in ranked if one.personas_beside() is None]
    if not ranked:
        counted = found.lengths["n"] if is_of_people(protocol) else len(found.of_people)
        return f"{len(found.sent)} messages", f"{counted} messages"
    if len(truth) == 1:
        levels = [expected_level(protocol, one, truth[HUMAN]) for one in ranked]
        return _levels(levels), _levels([found.level(one, HUMAN) for one in ranked])
    sums = {name: sum(found.level(one, name) or 0.0 for one in ranked) for name in truth}
    return " > ".join(truth), " > ".join(sorted(sums, key=lambda name: -sums[name]))


def _levels(levels: Sequence[float | None]) -> str:
    return " ".join("-" if level is None else f"{level:.2f}" for level in levels)
