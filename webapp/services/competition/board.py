"""Competitions: a study's rules, the submissions that keep them, and the automatic board (CA-P0).

Source: Dinan et al. 2019 (ConvAI2), sections 2.2 to 2.6. What a team is told is made here alone, so
that nothing of the hidden data can be in it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import pandas as pd
from django.db import transaction

from analysis.comparisons.best_rank import best_ranks
from bots import InvalidOption, UnknownName, bot_names, bot_options
from bots.options import check_options
from evaluation.competition import (
    LOWER_IS_BETTER,
    CompetitionRules,
    InvalidEntry,
    Submission,
    beats,
    refusal,
    rules_of,
    submission_of,
    to_json,
)
from webapp.models import Competition, Entry
from webapp.services.rules import audit
from webapp.services.rules.access import AnyStudy


class CompetitionRefused(Exception):
    """What cannot be done with a competition as it stands; the text says what can."""


@dataclass(frozen=True, kw_only=True)
class BoardRow:
    """A team's line of the automatic board. rank: None for the baseline; scores: as entered."""

    rank: int | None
    team: str
    scores: Mapping[str, float]
    beats_baseline: bool
    advances: bool
    declined: bool


@dataclass(frozen=True)
class BoardLine:
    """A row of the board in words: a dash for what was not entered, and for no rank."""

    rank: str
    team: str
    cells: tuple[str, ...]
    goes_on: str


@dataclass(frozen=True, kw_only=True)
class ShownCompetition:
    """A competition as staff see it."""

    rules: CompetitionRules
    entries: int
    waiting: int
    lines: Sequence[BoardLine]
    human_round: str
    automatic_winner: str
    human_winner: str

    @property
    def columns(self) -> int:
        return 3 + len(self.rules.metrics)


def of_study(study: AnyStudy) -> Competition:
    """Return a study's competition. Raises `CompetitionRefused` where there is none."""
    found = Competition.objects.filter(study=study.pk).first()
    if found is None:
        raise CompetitionRefused(f"study {study.pk} holds no competition; give it rules first")
    return found


def shown(study: AnyStudy) -> ShownCompetition | None:
    """Return a study's competition for a page, or None."""
    found = Competition.objects.filter(study=study.pk).select_related("human_round").first()
    if found is None:
        return None
    return ShownCompetition(
        rules=rules_of(found.rules),
        entries=found.entries.count(),
        waiting=found.entries.filter(ran_at=None).count(),
        lines=lines(found),
        human_round=found.human_round.phase if found.human_round else "",
        automatic_winner=found.automatic_winner,
        human_winner=found.human_winner,
    )


def announce(*, study: AnyStudy, content: object, by: Any, now: datetime) -> Competition:
    """Give a study the rules of a competition; nothing changes them once a team has submitted.

    Raises `InvalidEntry` or `CompetitionRefused`.
    """
    rules = rules_of(content)
    with transaction.atomic():
        found, is_new = Competition.objects.select_for_update().get_or_create(
            study_id=study.pk, defaults={"rules": to_json(rules)}
        )
        if not is_new and found.entries.exists():
            raise CompetitionRefused("a team has submitted; the rules stay as they are")
        found.rules = to_json(rules)
        found.save(update_fields=["rules"])
        _note(found, by, "competition announced", now)
        return found


def submit(*, competition: Competition, content: object, by: Any, now: datetime) -> Entry:
    """Take a team's submission. Raises `InvalidEntry` or `CompetitionRefused`, saying why."""
    with transaction.atomic():
        row = lock(competition)
        rules = rules_of(row.rules)
        found = submission_of(content, rules)
        _check_bot(found)
        days = [each.submitted_at.date() for each in row.entries.filter(team=found.team)]
        if (why := refusal(found.team, rules, days, now.date())) is not None:
            raise CompetitionRefused(why)
        made = Entry.objects.create(
            competition=row, team=found.team, content=to_json(found), submitted_at=now
        )
        _note(row, by, "entry submitted", now, team=found.team)
        return made


def lock(competition: Competition) -> Competition:
    """Return the row, locked. Raises `CompetitionRefused` once it is closed."""
    row = Competition.objects.select_for_update().get(pk=competition.pk)
    if row.closed_at is not None:
        raise CompetitionRefused(f"the competition was closed on {row.closed_at.date()}")
    return row


def current(competition: Competition) -> dict[str, Entry]:
    """Return the submission of each team that counts: the newest that ran."""
    ran = competition.entries.exclude(scores=None).order_by("pk")
    return {each.team: each for each in ran}


def board(competition: Competition) -> list[BoardRow]:
    """Return the automatic board: teams by their smallest rank, the baseline last, without one.

    Ranks are those of `analysis.comparisons.best_rank`. Who shares the last place that advances
    advances too; whoever does not beat the baseline in some metric does not.
    """
    rules, found = rules_of(competition.rules), current(competition)
    base = found.get(rules.baseline)
    teams = {name: each for name, each in found.items() if name != rules.baseline}
    frame = pd.DataFrame(
        {name: [_scores(each).get(name) for each in teams.values()] for name in rules.metrics},
        index=list(teams),
        dtype=float,
    )
    ranks = dict(best_ranks(frame, lower_is_better=LOWER_IS_BETTER)) if teams else {}
    rows = [_row(int(ranks[name]), each, base, rules) for name, each in teams.items()]
    rows.sort(key=lambda row: (row.rank or 0, row.team))
    return rows + ([_row(None, base, None, rules)] if base else [])


def lines(competition: Competition) -> list[BoardLine]:
    """Return the board in words."""
    metrics = rules_of(competition.rules).metrics
    return [
        BoardLine(
            rank=str(row.rank or "-"),
            team=row.team,
            cells=tuple(
                f"{row.scores[name]:.2f}" if name in row.scores else "-" for name in metrics
            ),
            goes_on="declined" if row.declined else "yes" if row.advances else "no",
        )
        for row in board(competition)
    ]


def advancing(competition: Competition) -> list[Entry]:
    """Return the entries that go on to the human round, in the order of the board."""
    found = current(competition)
    return [found[row.team] for row in board(competition) if row.advances and not row.declined]


def result(competition: Competition, team: str) -> str:
    """Return what a team may know of its latest submission: its scores, or a kind of error.

    Raises `CompetitionRefused` where it submitted nothing.
    """
    latest = competition.entries.filter(team=team).order_by("-pk").first()
    if latest is None:
        raise CompetitionRefused(f"{team} submitted nothing")
    about = f"{team}, submitted on {latest.submitted_at.date()}"
    if latest.ran_at is None:
        return f"{about}: it has not run yet"
    if latest.failure:
        return f"{about}: it failed ({latest.failure})"
    scores = ", ".join(f"{name} {value:.4f}" for name, value in _scores(latest).items())
    return f"{about}: {scores}"


def _row(rank: int | None, entry: Entry, base: Entry | None, rules: CompetitionRules) -> BoardRow:
    better = base is None or beats(_scores(entry), _scores(base))
    return BoardRow(
        rank=rank,
        team=entry.team,
        scores=_scores(entry),
        beats_baseline=better,
        advances=rank is not None and rank <= rules.advance and better,
        declined=entry.declined,
    )


def _scores(entry: Entry) -> dict[str, float]:
    return dict(entry.scores or {})


def _check_bot(found: Submission) -> None:
    """Refuse a bot or an option that there is not. Raises `InvalidEntry`."""
    try:
        check_options(found.bot, bot_options(found.bot), found.options)
    except UnknownName:
        raise InvalidEntry({"bot": f"is {found.bot!r}, none of {', '.join(bot_names())}"}) from None
    except InvalidOption as problem:
        raise InvalidEntry({"options": str(problem)}) from None


def _note(row: Competition, by: Any, action: str, now: datetime, **detail: Any) -> None:
    audit.append(
        actor=by.get_username(),
        action=action,
        campaign=None,
        now=now,
        study=row.study_id,
        **detail,
    )
