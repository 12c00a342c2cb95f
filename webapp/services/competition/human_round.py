"""After a competition's automatic round: who goes on to people, who declines, whose code is there.

The human round is a campaign of CA-P1 and a phase of the study: the entries that advance, and the
baseline. Apart because the rules of submissions
are over by then.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db import transaction

from evaluation.competition import rules_of
from webapp.models import Campaign, Competition, Entry
from webapp.services.campaign import campaigns, studies, systems
from webapp.services.competition import board as competitions
from webapp.services.competition.board import CompetitionRefused
from webapp.services.rules import audit

PROTOCOL = "convai2_crowd"
PHASE = "human round"
EACH = 100  # conversations per system (section 3.2.2)


def start_human_round(
    *,
    competition: Competition,
    values: Mapping[str, Any],
    by: Any,
    now: datetime,
    each: int = EACH,
) -> Campaign:
    """Return a draft of the human round; `values` are those of a campaign's form.

    Raises `CompetitionRefused` before the automatic round is over, with entries that have not run,
    with nobody to advance, or a second time.
    """
    with transaction.atomic():
        row = competitions.lock(competition)
        chosen = _chosen(row, now)
        made = campaigns.create(owner=by, protocol=PROTOCOL, values=values, now=now)
        for entry in chosen:
            found = {"name": entry.team, "target": each, "sees_persona": True}
            found |= {"options": entry.content["options"]}
            systems.add_system(
                campaign=made, bot=entry.content["bot"], values=found, by=by, now=now
            )
        studies.add(study=row.study, raw={"source": str(made.pk), "phase": PHASE}, by=by, now=now)
        row.human_round = made
        row.save(update_fields=["human_round"])
        made.refresh_from_db()
        return made


def decline(*, competition: Competition, team: str, by: Any, now: datetime) -> None:
    """Note that a team does not go on; nobody takes its place. Raises `CompetitionRefused`."""
    with transaction.atomic():
        row = competitions.lock(competition)
        if row.human_round is not None:
            raise CompetitionRefused("the human round was made; it is too late to decline")
        entry = _entry(row, team)
        Entry.objects.filter(pk=entry.pk).update(declined=True)
        _note(row, by, "entry declined", team, now)


def release_code(
    *, competition: Competition, team: str, sha256: str, by: Any, now: datetime
) -> None:
    """Note the hash of a team's training code. Raises `CompetitionRefused`."""
    with transaction.atomic():
        row = competitions.lock(competition)
        entry = _entry(row, team)
        Entry.objects.filter(pk=entry.pk).update(training_code_sha256=sha256)
        _note(row, by, "training code released", team, now)


def _chosen(row: Competition, now: datetime) -> list[Entry]:
    """Return the entries that go on, then the baseline. Raises `CompetitionRefused`."""
    rules = rules_of(row.rules)
    if row.human_round is not None:
        raise CompetitionRefused(f"the human round is there already: {row.human_round.name}")
    if now.date() <= rules.closes:
        raise CompetitionRefused(f"the automatic round is open until {rules.closes}")
    if row.entries.filter(ran_at=None).exists():
        raise CompetitionRefused("some entries have not run yet; run them first")
    chosen = competitions.advancing(row)
    if not chosen:
        raise CompetitionRefused("no team beats the baseline; nobody goes on")
    base = competitions.current(row).get(rules.baseline)
    return [*chosen, base] if base else chosen


def _entry(row: Competition, team: str) -> Entry:
    found = competitions.current(row)
    if team not in found:
        known = ", ".join(found) or "none"
        raise CompetitionRefused(f"{team} has no entry that ran; there are: {known}")
    return found[team]


def _note(row: Competition, by: Any, action: str, team: str, now: datetime) -> None:
    audit.append(
        actor=by.get_username(),
        action=action,
        campaign=None,
        now=now,
        study=row.study_id,
        team=team,
    )
