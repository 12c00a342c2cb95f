"""Prizes of a competition: the automatic round's, and the grand prize, which people decide alone.

Source: Dinan et al. 2019 (ConvAI2): the grand prize goes by the calibrated score of CA-P1, and
winners release their training code. Apart because they rest on the
ratings of people, and the board on none.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction

from analysis import get_metric
from evaluation.competition import rules_of
from webapp.models import Campaign, Competition
from webapp.services.competition import board as competitions
from webapp.services.competition.board import CompetitionRefused
from webapp.services.data import tables
from webapp.services.rules import audit

QUESTION = "enjoyment"
OVER = (Campaign.State.CLOSED, Campaign.State.STOPPED)


@dataclass(frozen=True)
class Prizes:
    """Teams that won: by automatic metrics, and by people. They may differ."""

    automatic: str
    grand: str


def prizes(competition: Competition) -> Prizes:
    """Return who wins as things stand. Raises `CompetitionRefused` where that cannot be said."""
    first = _only([row.team for row in competitions.board(competition) if row.rank == 1], "board")
    return Prizes(first, _only(_best_by_people(competition), "human round"))


def close(*, competition: Competition, by: Any, now: datetime) -> Prizes:
    """Close a competition for good. Raises `CompetitionRefused`.

    That is before the human round is over, and while the winner's training code is not there.
    """
    with transaction.atomic():
        row = competitions.lock(competition)
        if row.human_round is None or row.human_round.state not in OVER:
            raise CompetitionRefused("the human round is not over")
        won = prizes(row)
        if not competitions.current(row)[won.grand].training_code_sha256:
            raise CompetitionRefused(
                f"{won.grand} won; its training code is not there yet, and winners release theirs"
            )
        row.automatic_winner, row.human_winner, row.closed_at = won.automatic, won.grand, now
        row.save(update_fields=["automatic_winner", "human_winner", "closed_at"])
        audit.append(
            actor=by.get_username(),
            action="competition closed",
            campaign=None,
            now=now,
            study=row.study_id,
            team=won.grand,
        )
        return won


def _best_by_people(competition: Competition) -> list[str]:
    """Return the teams with the highest calibrated score; the baseline and people win nothing."""
    if competition.human_round is None:
        raise CompetitionRefused("there is no human round yet")
    ratings = tables.ratings(competition.human_round)
    scores = get_metric("calibrated_score")(ratings)
    teams = set(competitions.current(competition)) - {rules_of(competition.rules).baseline}
    own = scores[(scores["question"] == QUESTION) & scores["system"].isin(teams)]
    if own.empty or own["estimate"].isna().any():
        raise CompetitionRefused("the human round has no calibrated score for every team")
    best = own[own["estimate"] == own["estimate"].max()]
    return [str(name) for name in best["system"]]


def _only(names: list[str], where: str) -> str:
    if len(names) != 1:
        who = " and ".join(names) or "nobody"
        raise CompetitionRefused(f"the {where} has no single winner: {who}")
    return names[0]
