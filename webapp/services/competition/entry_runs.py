"""Runs of a competition's entries on hidden data: a process each, without network or team.

Apart because it is the one place where code of teams runs. The process gets no variable of the
server's but those listed here, prints into nothing, and leaves one file. Where the operating system
lets it, it has no network at all (`unshare`); in any case Python refuses every connection
(`bots.guards.offline`). Before it sees any hidden data, it is set up by a process that has none:
what is wrong with a folder or a function then is told in full, and the entry waits until it is
mended. It is no jail for hostile code: it can read what the server's account can.
"""

from __future__ import annotations

import builtins
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from math import isclose, isfinite
from pathlib import Path
from typing import Any

import pandas as pd
from django.conf import settings
from django.db import transaction

from analysis import get_metric, prediction_table
from bots.registry import PATHS
from evaluation.competition import CompetitionRules, rules_of
from webapp.models import Competition, Entry
from webapp.services.competition import board as competitions
from webapp.services.competition.board import CompetitionRefused
from webapp.services.rules import audit

ROOT = Path(__file__).resolve().parents[3]
HANDED_ON = ("PATH", "LANG", "LC_ALL", "BOT_CALLABLES", "PYTHONPATH", "CUDA_VISIBLE_DEVICES")
KINDS = {name for name, kind in vars(builtins).items() if isinstance(kind, type)}
KINDS |= {"CannotDo", "Offline"}  # a metric that the bot has no ability for; a refused connection
LATE, NOT_SET_UP = "TimeoutError", "it cannot be set up"
HOURS = 6 * 3600.0  # seconds that an entry may take
PERCENT = 100  # as the board prints hits and F1
NO_NETWORK = ("unshare", "--map-root-user", "--net")


@dataclass(frozen=True, kw_only=True)
class HiddenTest:
    """Hidden data as KIND:PATH, and data whose words are the dictionary of perplexity."""

    data: tuple[str, ...]
    dictionary: tuple[str, ...] = ()
    seconds: float = HOURS


@dataclass(frozen=True)
class Ran:
    """What came of an entry. failure: a kind of error; unready: why it could not be set up.

    `unready` may say anything of this server, so it is for whoever runs it: it is not stored.
    """

    team: str
    scores: dict[str, float] | None
    failure: str
    rows: tuple[dict[str, Any], ...] = ()
    unready: str = ""


def run_waiting(
    *,
    competition: Competition,
    hidden: HiddenTest,
    by: Any,
    now: datetime,
    fails_unready: bool = False,
) -> list[Ran]:
    """Run what was submitted and has not run.

    What cannot be set up goes on waiting, unless it is to fail. Raises `CompetitionRefused` for
    data of no use.
    """
    rules, found = rules_of(competition.rules), list[Ran]()
    for entry in competition.entries.filter(ran_at=None).order_by("pk"):
        ran = _run(entry, rules, hidden)
        found.append(ran)
        if ran.unready and not fails_unready:
            continue
        with transaction.atomic():
            Entry.objects.filter(pk=entry.pk, ran_at=None).update(
                scores=ran.scores, failure=ran.failure, ran_at=now
            )
            audit.append(
                actor=by.get_username(),
                action="entry run",
                campaign=None,
                now=now,
                study=competition.study_id,
                team=entry.team,
            )
    return found


def rerun(*, competition: Competition, hidden: HiddenTest) -> list[Ran]:
    """Run the entries that count again; `failure` names the scores that are not the same."""
    rules = rules_of(competition.rules)
    return [
        _compared(entry, _run(entry, rules, hidden))
        for entry in competitions.current(competition).values()
    ]


def _compared(entry: Entry, ran: Ran) -> Ran:
    if ran.scores is None:
        return ran
    before = dict(entry.scores or {})
    other = [
        f"{name} was {before.get(name)}, is {value}"
        for name, value in ran.scores.items()
        if not isclose(value, before.get(name, float("nan")), rel_tol=1e-9)
    ]
    return Ran(ran.team, ran.scores, "; ".join(other), ran.rows)


def _run(entry: Entry, rules: CompetitionRules, hidden: HiddenTest) -> Ran:
    with tempfile.TemporaryDirectory(prefix="parley-entry-") as folder:
        out, file = Path(folder) / "out.jsonl", Path(folder) / "request.json"
        content = entry.content
        request = {name: content[name] for name in ("team", "bot", "metrics")}
        request |= {"options": _placed(content["options"])}
        request |= {"data": hidden.data, "dictionary": hidden.dictionary, "out": str(out)}
        request |= {"candidates": rules.candidates, "seed": rules.seed}
        try:
            if unready := _unready(file, request, folder, hidden.seconds):
                return Ran(entry.team, None, NOT_SET_UP, unready=unready)
            file.write_text(json.dumps(request), "utf-8")
            done = _process(file, folder, hidden.seconds)
        except subprocess.TimeoutExpired:
            return Ran(entry.team, None, LATE)
        if done.stderr:  # an entry's own errors go nowhere: this was said before it began
            raise CompetitionRefused(f"the hidden data cannot be used: {_last(done.stderr)}")
        if done.returncode or not out.is_file():
            return Ran(entry.team, None, _kind(done.stdout))
        # Not splitlines: a reply may hold a line separator of Unicode, which JSON leaves as it is.
        lines = out.read_text("utf-8").split("\n")
        rows = [json.loads(line) for line in lines if line]
        scores = _scores(rows, content["metrics"])
        infinite = [name for name, score in scores.items() if not isfinite(score)]
        if infinite:
            return Ran(entry.team, None, f"{infinite[0]} is infinite")
        return Ran(entry.team, scores, "", tuple(rows))


def _unready(file: Path, request: Mapping[str, Any], folder: str, seconds: float) -> str:
    """Return why an entry cannot be set up, by a process without hidden data; "" if it can."""
    out = Path(folder) / "problem.txt"
    file.write_text(
        json.dumps(
            {name: request[name] for name in ("bot", "options", "metrics")} | {"out": str(out)}
        ),
        "utf-8",
    )
    done = _process(file, folder, seconds)
    if done.returncode == 0:
        return ""
    return out.read_text("utf-8") if out.is_file() else _last(done.stderr)


def _placed(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options with the place of a folder of weights that is named without one."""
    named = {name: str(options[name]) for name in PATHS if options.get(name)}
    here = {name: folder for name, folder in named.items() if Path(folder).name == folder}
    placed = {name: str(Path(settings.WEIGHTS_DIR) / folder) for name, folder in here.items()}
    return {**options, **placed}


def _kind(printed: str) -> str:
    """Return a kind of error; anything else that an entry managed to say is left out."""
    return printed if printed in KINDS else "Exception"


def _process(file: Path, folder: str, seconds: float) -> subprocess.CompletedProcess[str]:
    command = (sys.executable, "-m", "bots", "enter", str(file))
    environment = {name: os.environ[name] for name in HANDED_ON if name in os.environ}
    return subprocess.run(  # noqa: S603 (our own command, on files of ours)
        [*_without_network(), *command],
        env=environment
        | {"HOME": folder, "PYTHONHASHSEED": "0"}
        | {"PYTHONPATH": os.pathsep.join([str(ROOT), *_paths(environment)])},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )


def _paths(environment: Mapping[str, str]) -> list[str]:
    return [path for path in environment.get("PYTHONPATH", "").split(os.pathsep) if path]


@cache
def _without_network() -> tuple[str, ...]:
    """Return the command before a command that takes the network away, where there is one."""
    if shutil.which(NO_NETWORK[0]) is None:
        return ()
    command = [*NO_NETWORK, "true"]
    done = subprocess.run(command, capture_output=True, check=False)  # noqa: S603 (ours)
    return NO_NETWORK if done.returncode == 0 else ()


def _scores(rows: Sequence[dict[str, Any]], metrics: Sequence[str]) -> dict[str, float]:
    """Return each metric's score as the board prints it; perplexity is no percentage."""
    table = prediction_table(pd.DataFrame(rows))
    named = {"ppl": "perplexity", "hits@1": "hits", "F1": "word_f1"}
    scores = {}
    for metric in metrics:
        own = table[table["prediction"].str.startswith(f"{metric}:")].reset_index(drop=True)
        found = get_metric(named[metric])(own)
        first = found[found["metric"].isin((named[metric], metric))].iloc[0]
        factor = 1 if metric == "ppl" else PERCENT
        scores[metric] = factor * float(first["estimate"])
    return scores


def _last(text: str) -> str:
    return (text.strip().splitlines() or ["no reason was given"])[-1]
