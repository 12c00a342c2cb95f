"""Entries of a competition as staff see them: each waits, has scores, or a kind of error.

A page only puts an entry into the queue. Code of teams runs where whoever runs the server wants it
to (`entry_runs`), never in answer to a page. Apart because the board takes any entry, and a page
only those whose options name no other file.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from bots import InvalidOption, bot_names
from bots.registry import PATHS
from evaluation.competition import (
    CompetitionRules,
    InvalidEntry,
    TrainingData,
    next_day,
    rules_of,
    submission_of,
)
from webapp.models import Competition, Entry
from webapp.services.campaign import systems
from webapp.services.competition import board
from webapp.services.replies import worker
from webapp.services.rules.access import AnyStudy


@dataclass(frozen=True, kw_only=True)
class ShownEntry:
    """An entry. next_day: from which its team may submit again; None where the round ends first."""

    team: str
    bot: str
    options: str
    metrics: str
    data: Sequence[TrainingData]
    ensemble: bool
    submitted_at: datetime
    ran_at: datetime | None
    failure: str
    scores: Sequence[tuple[str, str]]
    counts: bool
    next_day: date | None


def listed(study: AnyStudy, now: datetime) -> list[ShownEntry]:
    """Return a study's entries, the newest first; none where it holds no competition."""
    row = Competition.objects.filter(study=study.pk).first()
    if row is None:
        return []
    rules, current = rules_of(row.rules), board.current(row)
    found = list(row.entries.order_by("-pk"))
    days: defaultdict[str, list[date]] = defaultdict(list)
    for entry in found:
        days[entry.team].append(entry.submitted_at.date())
    following = {team: next_day(rules, earlier, now.date()) for team, earlier in days.items()}
    return [_shown(entry, rules, current, following[entry.team]) for entry in found]


def _shown(
    entry: Entry, rules: CompetitionRules, current: Mapping[str, Entry], following: date | None
) -> ShownEntry:
    submission = submission_of(entry.content, rules)
    scores = (entry.scores or {}).items()
    return ShownEntry(
        team=entry.team,
        bot=submission.bot,
        options=json.dumps(submission.options, ensure_ascii=False) if submission.options else "",
        metrics=", ".join(submission.metrics),
        data=submission.data,
        ensemble=submission.ensemble,
        submitted_at=entry.submitted_at,
        ran_at=entry.ran_at,
        failure=entry.failure,
        scores=[(name, f"{value:.4f}") for name, value in scores],
        counts=current.get(entry.team) == entry,
        next_day=following,
    )


def submit(*, study: AnyStudy, content: Mapping[str, Any], by: Any, now: datetime) -> str:
    """Put an entry into the queue from a page, with what the server allows; return its team.

    Raises `InvalidEntry` or `CompetitionRefused`.
    """
    row = board.of_study(study)
    submission = submission_of(content, rules_of(row.rules))
    problems = _problems(submission.bot, submission.options)
    if problems:
        raise InvalidEntry({"options": "; ".join(problems)})
    return board.submit(competition=row, content=content, by=by, now=now).team


def _problems(bot: str, options: Mapping[str, Any]) -> list[str]:
    """Return what a requester may not choose: files besides the weights here, other functions."""
    if bot not in bot_names():
        return []  # the competition says so itself
    here = {folder for folder, _ in systems.weights_here()} | set(systems.checkpoints_here())
    inner = [options[its] for its in worker.INSIDE.values() if isinstance(options.get(its), dict)]
    found = [
        f"{name}: {each[name]!r} is not a folder of weights here"
        for each in (options, *inner)
        for name in PATHS
        if each.get(name) and (each is not options or each[name] not in here)
    ]
    try:
        others = systems.problems_of(bot, options)
    except (InvalidOption, TypeError) as problem:
        return [*found, str(problem)]
    return [*found, *(f"{name}: {text}" for name, text in others.items())]
