"""A study at the panel as its page shows it: values, never rows."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from webapp import clock
from webapp.models import PanelBatch, PanelCall, PanelStudy, QuotaCell
from webapp.services.recruiting import books, client, hooks, studies, submissions
from webapp.services.rules.access import AnyCampaign

WORDS = {"PUBLISH": "Publish", "PAUSE": "Pause", "START": "Start again", "STOP": "Stop"}


@dataclass(frozen=True, kw_only=True)
class Panel:
    """What the page of a study shows; amounts in the campaign's currency."""

    title: str
    address: str
    status: str
    openings: int
    openings_taken: int
    minutes: int
    reward: Decimal
    screening_reward: Decimal
    hourly: Decimal
    panel_hourly: Decimal | None  # as the panel has it
    is_underpaying: bool
    total_cost: Decimal | None
    codes: dict[str, str]
    error: str
    waits: bool  # a change is on its way
    hears: bool  # webhooks are subscribed
    is_silent: bool  # nothing has spoken to the panel for long
    failed: list[str]
    was_refused: bool  # it can be made anew
    actions: dict[str, str]
    books: books.PanelBooks


def is_connected() -> bool:
    """Tell whether this server has the panel's token."""
    return client.is_on()


def _is_silent(study: PanelStudy, now: datetime) -> bool:
    """Tell whether three times were missed at which the study would have been made, or read."""
    before = now - 3 * submissions.POLL
    if study.study_id is None:
        return study.calls.filter(stage=PanelCall.Stage.DUE, made_at__lt=before).exists()
    return study.read_at is not None and study.read_at < before  # None: an event came just now


def wanted(campaign: AnyCampaign) -> int:
    """Return how many participations the campaign wants over all systems."""
    return sum(
        QuotaCell.objects.filter(system__campaign=campaign.pk).values_list("target", flat=True)
    )


def of(study: PanelStudy) -> Panel:
    """Return what the page of a study shows."""
    failed = study.calls.filter(stage=PanelCall.Stage.FAILED).exclude(action="APPROVE")
    refused = study.batches.filter(stage=PanelBatch.Stage.READY).exclude(error="")
    troubles = [f"{each.action.lower()}: {each.error}" for each in failed]
    waits = studies.is_waiting(study)
    return Panel(
        title=study.title,
        address=study.address,
        status=study.status,
        openings=study.openings,
        openings_taken=study.openings_taken,
        minutes=study.minutes,
        reward=study.reward * books.CENT,
        screening_reward=study.screening_reward * books.CENT,
        hourly=hourly(study.reward, study.minutes),
        panel_hourly=None if study.hourly is None else study.hourly * books.CENT,
        is_underpaying=bool(study.is_underpaying),
        total_cost=None if study.total_cost is None else study.total_cost * books.CENT,
        codes=study.codes,
        error=study.error,
        waits=waits,
        hears=hooks.is_subscribed(),
        is_silent=study.campaign.ended_at is None and _is_silent(study, clock.now()),
        failed=[*troubles, *(f"bonuses: {each.error}" for each in refused)],
        was_refused=studies.may_make(study.campaign),
        actions={} if waits else _possible(study),
        books=books.of(study),
    )


def _possible(study: PanelStudy) -> dict[str, str]:
    return {
        name: WORDS[name]
        for name, (origins, _) in studies.ACTIONS.items()
        if study.status in origins
    }


def hourly(reward: int, minutes: int) -> Decimal:
    """Return the wage of an hour; reward in cents."""
    return (Decimal(reward) * 60 / minutes * books.CENT).quantize(books.CENT)
