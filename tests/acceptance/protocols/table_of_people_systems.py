"""Systems of the table of people's ratings: trained, entered, and as an export has them."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.acceptance.shell import Shell
from tests.acceptance.through_pages import Simulated
from tests.simulate.planted import DETECTED

DETECTION = "persona detection"
OWN = ("demo:train", "Parley small talk", "MIT")
OTHER = ("help_desk:200:1", "synthetic help desk", "CC0-1.0")


@dataclass(frozen=True)
class System:
    """A system of the campaign: its group and profile in the table, and what is planted."""

    group: str
    bot: str
    share: float
    profile: str = "self"
    corpus: tuple[str, str, str] = OWN

    def planted(self, score: str) -> float:
        return DETECTED if score == DETECTION else 1 + 4 * self.share


SYSTEMS = {
    "human": System("human", "people", 0.85),
    "seq2seq": System("generative", "seq2seq", 0.35, "none"),
    "writes-profile": System("generative", "generative_profile_memory", 0.35),
    "starspace": System("ranking", "starspace", 0.6, "none"),
    "ranks-profile": System("ranking", "profile_memory", 0.6),
    "outside-lm": System("other data", "language_model", 0.1, "none", OTHER),
}
BOTS = {name: each for name, each in SYSTEMS.items() if each.bot != "people"}


def entered(shell: Shell) -> str:
    """Train the bots and return the file of the campaign's systems."""
    folder, rows = shell.folder / "people_weights", []
    for name, each in SYSTEMS.items():
        row = {"name": name, "bot": each.bot, "share": each.share}
        if name in BOTS:
            row |= {"options": {"weights": name}, "unseen": each.profile == "none"}
            data, corpus, license = each.corpus
            words = ("--seed", "1", "--corpus", corpus, "--license", license)
            into = str(folder / name)
            if not Path(into).exists():
                shell.bots("train", each.bot, "--data", data, *words, "--out", into)
        rows.append(row)
    value = {"weights": str(folder), "systems": rows}
    return shell.written("people_systems.json", json.dumps(value))


# --- what is on record ----------------------------------------------------------------------------


def off_record(found: Simulated) -> Iterator[str]:
    """Yield which corpus, license or persona is not on record as it is, of bots and of people."""
    with zipfile.ZipFile(found.export) as archive:
        plan = json.loads(archive.read("plan.json"))
        lines = archive.read("conversations.jsonl").decode().splitlines()
    versions = {each["name"]: each["version"] for each in plan["systems"]}
    for name, each in BOTS.items():
        if (versions[name].get("corpus"), versions[name].get("license")) != each.corpus[1:]:
            yield f"plan: {name} is {versions[name]}"
    rated = [talk for talk in map(json.loads, lines) if talk["judged"]]
    for talk in rated:
        if not (_is_of_two if talk["system"] == "human" else _is_of_bot)(talk):
            yield f"conversation {talk['conversation']} of {talk['system']}"


def _is_of_two(talk: Mapping[str, Any]) -> bool:
    """Tell whether two people talked, both with a persona, of whom one rated the other."""
    seats, items = talk["seats"], talk["judged"]
    people = {seat["participant"] for seat in seats} - {None}
    told = all(seat["sees_persona"] and seat["persona"]["sentences"] for seat in seats)
    rates = [seat["rates"] for seat in seats]
    return len(people) == 2 and told and sorted(rates) == [False, True] and len(items) == 1


def _is_of_bot(talk: Mapping[str, Any]) -> bool:
    """Tell whether a bot of its corpus replied, with a persona on file that it saw or did not."""
    wanted = SYSTEMS[talk["system"]]
    (seat,) = (seat for seat in talk["seats"] if seat["participant"] is None)
    shown = [job for job in talk["replies"] if job["state"] == "DONE"]
    corpora = {(job["details"]["corpus"], job["details"]["license"]) for job in shown}
    bots = {job["bot"] for job in shown}
    sees = seat["sees_persona"] == (wanted.profile == "self")
    on_file = bool(seat["persona"]["sentences"])
    return corpora == {wanted.corpus[1:]} and bots == {wanted.bot} and sees and on_file
