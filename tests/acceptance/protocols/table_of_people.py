"""Row of PERSONA-CHAT's table of people's ratings: people and bots of four kinds, one export."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from math import sqrt
from pathlib import Path
from statistics import fmean, pstdev, stdev

from scipy.stats import binomtest, t

from tests.acceptance.protocols.table_of_people_systems import (
    DETECTION,
    OTHER,
    SYSTEMS,
    entered,
    off_record,
)
from tests.acceptance.shell import Shell, Shown
from tests.acceptance.table import NotShown
from tests.acceptance.through_pages import Simulated, simulated
from tests.simulate.campaign import LEDGER
from webapp.crowd import ledger

SPECIFICATION = Path("../shared/spec/reference_results.json")
SCORES = {  # by their names in the report
    "fluency": "fluency",
    "engagingness": "engagingness",
    "consistency": "consistency",
    "persona detection": "persona",
}
# Twelve rate each of six systems, and of two people one: Wilson's interval of ten right of twelve
# has the planted chance of .95, that of eight of ten has not.
PEOPLE = "84"
FEWEST = 10  # who rate a system, as somebody may wait for a partner in vain
MOST_MISSED = 4  # of 24 intervals that hold in 95 of 100: more in 1 of 100 campaigns
GROUPS = {"generative PersonaChat": "generative", "ranking PersonaChat": "ranking"}

Row = Mapping[str, str]


def a_human(shell: Shell) -> Shown:
    """Six systems of four kinds in one campaign come back as planted, above table 4 as printed."""
    found = simulated(shell, "personachat_bot", "--people", PEOPLE, "--systems", entered(shell))
    text = shell.analysis(found.export, "--report", "personachat_human")
    own, printed = _tables(text, "group")
    (intervals,) = _tables(text, "protocol")
    wrong = [*_other_rows(own, found), *_other_intervals(intervals, found), *off_record(found)]
    wrong += _not_as_sent(found)
    missed, far = _missed(intervals)
    same = [row for row, wanted in zip(printed, _stored(), strict=True) if row == wanted]
    told = "; ".join(
        " ".join((row["group"], row["system"], *(row[score] for score in SCORES), f"n {row['n']}"))
        for row in own
    )
    holds = not wrong and len(intervals) == 24 and len(missed) <= MOST_MISSED and not far
    return shell.shown(
        holds and len(same) == len(printed) == 9,
        f"{found.line}; mean (SD) and n as by hand: {told}; {24 - len(missed)} of 24 planted means "
        f"inside their 95 % intervals, which are as by hand{_but(missed)}, {len(far)} farther off "
        f"than twice; outside-lm learned {OTHER[1]} ({OTHER[2]}), on record, and sees no persona; "
        f"{len(same)} of 9 rows of table 4 to the digit{'; '.join(['', *wrong])}",
    )


# --- what is printed ------------------------------------------------------------------------------


def _tables(text: str, head: str) -> list[list[dict[str, str]]]:
    """Return the printed tables whose first column has this name, row by row."""
    found, lines = [], iter(text.splitlines())
    for line in lines:
        names = re.split(r"  +", line.strip())
        if not line.startswith(f"{head}  "):
            continue
        next(lines)  # the rule below the names
        rows = []
        for row in lines:
            if not row or row.startswith(" "):
                break
            rows.append(dict(zip(names, re.split(r"  +", row.strip()), strict=True)))
        found.append(rows)
    return found


def _stored() -> list[dict[str, str]]:
    """Return table 4 as the specification has it, in the layout of the report."""
    if not SPECIFICATION.exists():
        raise NotShown("reference_results.json of the specification is not here")
    stored = json.loads(SPECIFICATION.read_text(encoding="utf-8"))["PERSONA-CHAT"]["table4"]
    return [
        {
            "group": GROUPS.get(row["group"], row["group"]),
            "system": row["model"],
            "profile": row["profile"],
            **{
                score: "{mean:.2f} ({sd:.2f})".format_map(row[score.replace(" ", "_")])
                for score in SCORES
            },
            "n": "100",
        }
        for row in stored["rows"]
    ]


# --- what was answered ----------------------------------------------------------------------------


def _answers(found: Simulated, system: str, score: str) -> list[float]:
    return [
        float(row["value"])
        for row in found.table("ratings")
        if (row["system"], row["question"]) == (system, SCORES[score])
    ]


def _other_rows(own: Sequence[Row], found: Simulated) -> Iterator[str]:
    """Yield in what the table is not that of the answers, group by group."""
    if [row["group"] for row in own] != [each.group for each in SYSTEMS.values()]:
        yield f"groups {[row['group'] for row in own]}"
    if {row["system"] for row in own} != set(SYSTEMS):
        yield f"systems {[row['system'] for row in own]}"
    for row in own:
        name, wanted = row["system"], SYSTEMS[row["system"]]
        if (row["group"], row["profile"]) != (wanted.group, wanted.profile):
            yield f"{name}: {row['group']}, {row['profile']}"
        for score in SCORES:
            values = _answers(found, name, score)
            if row[score] != f"{fmean(values):.2f} ({pstdev(values):.2f})":
                yield f"{name}, {score}: {row[score]}"
            if row["n"] != str(len(values)) or len(values) < FEWEST:
                yield f"{name}, {score}: n {row['n']} of {len(values)} answers"


def _other_intervals(intervals: Sequence[Row], found: Simulated) -> Iterator[str]:
    """Yield which intervals are not those of the answers: of t, of shares Wilson's."""
    for row in intervals:
        values = _answers(found, row["system"], row["question"])
        wanted = (_wilson if row["question"] == DETECTION else _of_t)(values)
        if (row["low"], row["high"]) != tuple(wanted):
            yield f"{row['system']}, {row['question']}: {row['low']} to {row['high']}, not {wanted}"


def _of_t(values: Sequence[float]) -> list[str]:
    n, sd = len(values), stdev(values)
    half = float(t.ppf(0.975, n - 1)) * sd / sqrt(n)
    return [f"{fmean(values) + side:.2f}" for side in (-half, half)] if sd else ["-", "-"]


def _wilson(values: Sequence[float]) -> list[str]:
    found = binomtest(round(sum(values)), len(values)).proportion_ci(method="wilson")
    return [f"{end:.2f}" for end in (found.low, found.high)]


def _missed(intervals: Sequence[Row]) -> tuple[list[str], list[str]]:
    """Return whose intervals lack what was planted, and which of them are twice too far off."""
    missed, far = [], []
    for row in intervals:
        wanted, name = SYSTEMS[row["system"]].planted(row["question"]), row["system"]
        low, high = (float(row[end].replace("-", "nan")) for end in ("low", "high"))
        if not low <= wanted <= high:
            missed.append(f"{name} {row['question']} {row['low']} to {row['high']}, {wanted:.2f}")
        if not abs(float(row["estimate"]) - wanted) <= high - low:
            far.append(name)
    return missed, far


def _but(missed: Sequence[str]) -> str:
    return f" (not of {'; '.join(missed)})" if missed else ""


def _not_as_sent(found: Simulated) -> list[str]:
    """Return whether the export has other answers than the crowd noted that it sent."""
    notes = list(ledger.read(found.folder / LEDGER))
    done = {(note["person"], note["id"]) for note in notes if note["what"] == "ok"}
    forms = {(n["person"], n["id"]): n["answers"] for n in notes if "answers" in n}
    sent = [answers for key, answers in forms.items() if key in done]
    names = [f"p.{name}" for name in SCORES.values()]
    stored = defaultdict[str, dict[str, str]](dict)
    for row in found.table("ratings"):
        stored[row["rater"]][f"p.{row['question']}"] = row["chosen"] or row["value"]
    both = [
        Counter(tuple(each[name] for name in names) for each in forms)
        for forms in (sent, stored.values())
    ]
    same = both[0] == both[1] and both[0].total() >= FEWEST * len(SYSTEMS)
    sizes = f"people sent {both[0].total()} forms, the export has {both[1].total()}, or others"
    return [] if same else [sizes]
