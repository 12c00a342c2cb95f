"""Planner of a draft: what is asked, whether its answer is there, or on its way.

Nothing here computes: `power_plans` does, in a process of its own, as for results.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePath
from typing import Any

from django.db import transaction
from django.db.models import F
from django.utils.translation import gettext as _

from analysis.arguments import PUBLISHED_VARIANCES
from webapp.models import PEOPLE, PowerPlan, QuotaCell, Rating
from webapp.services.campaign import campaigns, launch
from webapp.services.results import stored
from webapp.services.results.stored import Found
from webapp.services.rules import access
from webapp.services.rules.access import AnyCampaign, row_of
from webapp.services.rules.protocols import protocol_of
from webapp.services.staff_forms import stop_rules

NAME, CHOICE = "power", "counted"  # of the result that is waited for
PILOT, CAMPAIGN = "pilot", "campaign-"
MOST_PILOT = 20_000_000  # bytes of an uploaded table
USUAL_POWER = 0.8


@dataclass(frozen=True, kw_only=True)
class PlannerState:
    """What was asked, and the answer; problems: what of it cannot be used, by field."""

    params: Mapping[str, Any]
    pilot_name: str = ""
    has_pilot: bool = False  # a table that was read, or is going to be
    progress: Found
    plan: Mapping[str, Any] | None = None
    target: int | None = None  # of each system, that the plan wants and that is another now
    problems: Mapping[str, str]


def look(*, campaign: AnyCampaign, now: datetime) -> PlannerState:
    """Return how the planner of a draft stands; an answer that is missing or old is wanted."""
    row = PowerPlan.objects.filter(campaign=campaign.pk).defer("pilot").first()
    progress = stored.status(of=campaign, name=NAME, choice=CHOICE)
    if row is None:
        return PlannerState(params={}, progress=progress, problems={})
    found = row.found or {}
    is_waiting = PowerPlan.objects.filter(pk=row.pk, pilot__isnull=False).exists()
    is_current = found.get("basis") == launch.power_basis(row_of(campaign))
    if not is_current and progress.wanted_at is None and not progress.problem:
        progress = stored.want(of=campaign, name=NAME, choice=CHOICE, now=now)
    plan = found.get("plan") if is_current else None
    return PlannerState(
        params=row.params,
        pilot_name=row.pilot_name,
        has_pilot=bool(row.learned) or is_waiting,
        progress=progress,
        plan=plan,
        target=_target(campaign, plan or {}),
        problems=found.get("problems", {}) if is_current else {},
    )


def _target(campaign: AnyCampaign, plan: Mapping[str, Any]) -> int | None:
    """Return the target of a system by a plan; None where it has it, or a plan gives none.

    A conversation with a bot is rated by the one person who had it; of two people one may rate.
    """
    if protocol_of(campaign).chat is None or plan.get("votes") != 1:
        return None
    cells = QuotaCell.objects.filter(system__campaign=campaign.pk)
    if cells.filter(system__bot=PEOPLE).exists():
        return None
    target = int(plan["items"])
    return target if cells.exclude(target=target).exists() else None


def use(*, campaign: AnyCampaign, now: datetime) -> int | None:
    """Give every system of a draft the target of the plan; None where there is none to give."""
    with transaction.atomic():
        draft = campaigns.lock_draft(campaign)
        target = look(campaign=draft, now=now).target
        if target is not None:
            QuotaCell.objects.filter(system__campaign=draft).update(target=target)
        return target


def ask(
    *,
    campaign: AnyCampaign,
    values: Mapping[str, Any],
    pilot: tuple[str, bytes] | None,
    now: datetime,
) -> None:
    """Ask for numbers that a form has checked; a new pilot takes the place of the one before."""
    changes: dict[str, Any] = {"params": dict(values), "found": None, "revision": F("revision") + 1}
    if pilot is not None:
        changes |= {"pilot_name": PurePath(pilot[0]).name[:200], "pilot": pilot[1], "learned": {}}
    with transaction.atomic():
        draft = campaigns.lock_draft(campaign)
        PowerPlan.objects.get_or_create(campaign=draft)
        PowerPlan.objects.filter(campaign=draft).update(**changes)
        stored.want(of=campaign, name=NAME, choice=CHOICE, now=now)


def sources(*, campaign: AnyCampaign, user: access.User) -> dict[str, str]:
    """Return where variances can come from, each with its words."""
    published = {
        "card-high": _("published, high variance (Card et al. 2020)"),
        "card-low": _("published, low variance (Card et al. 2020)"),
    }
    rated = Rating.objects.filter(assignment__item__campaign__in=access.beside(campaign, user))
    pks = rated.values("assignment__item__campaign").distinct()
    earlier = access.beside(campaign, user).filter(pk__in=pks).order_by("-pk")
    return {
        **{name: published[name] for name in PUBLISHED_VARIANCES},
        PILOT: _("a table of ratings or an export, uploaded below"),
        **{f"{CAMPAIGN}{each.pk}": each.name for each in earlier},
    }


def first_values(campaign: AnyCampaign) -> dict[str, Any]:
    """Return what the form of a draft starts from, by field."""
    protocol = protocol_of(campaign)
    known = stop_rules.questions(protocol)
    ends = next((each.cell_scale for each in known.values() if each.cell_scale), (1.0, 5.0))
    rate = protocol.after
    has_chat = protocol.chat is not None
    basis = launch.power_basis(row_of(campaign))
    return {
        "power": USUAL_POWER,
        "votes": 1 if has_chat or rate is None else rate.votes,
        "each": basis["each"],
        "judges": basis["judges"] if basis["judges"] < basis["systems"] else None,
        "low": ends[0],
        "high": ends[1],
        "source": PUBLISHED_VARIANCES[0],
        "fee": 0.0,
    }
