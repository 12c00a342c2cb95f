"""The list of campaigns: state, progress, who is there now, money, and the last problem of each."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import Count, Max, Q, Sum
from django.utils.translation import ngettext

from webapp.models import (
    Bonus,
    Campaign,
    CompletionCode,
    Conversation,
    Flag,
    Item,
    Participation,
    QuotaCell,
    ReplyJob,
)
from webapp.services.monitoring import monitor
from webapp.services.rules import access, states
from webapp.services.rules.protocols import protocol_of

PAGE = 50
Sums = dict[int, Any]
NO_SUMS = {"completed": 0, "target": 0}


@dataclass(frozen=True)
class CampaignRow:
    """One campaign of the list."""

    campaign: Campaign
    protocol: str
    completed: int
    target: int
    present: int
    money: monitor.Money
    problem: str

    @property
    def percent(self) -> int:
        return round(100 * self.completed / self.target) if self.target else 0


def lines(user: access.User, page: str | None) -> Page[Any]:
    """Return a page of the user's campaigns; as many queries, however many there are."""
    found: Page[Any] = Paginator(access.campaigns(user), PAGE).get_page(page)
    found.object_list = _lines(list(found.object_list))
    return found


def _lines(campaigns: list[Campaign]) -> list[CampaignRow]:
    keys = [campaign.pk for campaign in campaigns]
    wanted = _wanted(keys)
    present = _present(keys)
    spent = _spent(keys)
    promises = monitor.promises(keys)
    problems = _problems(campaigns, keys)
    return [
        _line(
            campaign,
            wanted.get(campaign.pk, NO_SUMS),
            present.get(campaign.pk, 0),
            spent.get(campaign.pk, Decimal(0)),
            promises.get(campaign.pk, monitor.NO_PROMISES),
            problems.get(campaign.pk, ""),
        )
        for campaign in campaigns
    ]


def _line(
    campaign: Campaign,
    sums: dict[str, int],
    present: int,
    spent: Decimal,
    promised: monitor.Promises,
    problem: str,
) -> CampaignRow:
    protocol = protocol_of(campaign)
    batch = 1 if protocol.chat else max((rate.batch for rate in protocol.rates), default=1)
    budget = monitor.budget(campaign, math.ceil(sums["target"] / batch), promised)
    return CampaignRow(
        campaign=campaign,
        protocol=protocol.title,
        completed=sums["completed"],
        target=sums["target"],
        present=present,
        money=monitor.Money(spent, budget, campaign.currency),
        problem=problem,
    )


def _wanted(keys: list[int]) -> Sums:
    """Sum cells for protocols with a chat, and shared items for those without."""
    sums = (Sum("completed"), Sum("target"))
    cells = QuotaCell.objects.filter(system__campaign__in=keys, target__gt=0)
    items = Item.objects.shared().filter(campaign__in=keys)
    rows = [
        *items.values_list("campaign").annotate(*sums).order_by(),
        *cells.values_list("system__campaign").annotate(*sums).order_by(),
    ]
    return {key: {"completed": completed, "target": target} for key, completed, target in rows}


def _present(keys: list[int]) -> Sums:
    people = Participation.objects.filter(campaign__in=keys, state__in=states.ACTIVE)
    return dict(people.values_list("campaign").annotate(Count("pk")).order_by())


def _spent(keys: list[int]) -> Sums:
    total: Sums = {}
    for kind in (CompletionCode, Bonus):
        rows: Iterable[Any] = (
            kind._default_manager.filter(participation__campaign__in=keys)
            .values_list("participation__campaign")
            .annotate(Sum("amount"))
            .order_by()
        )
        for key, amount in rows:
            total[key] = total.get(key, Decimal(0)) + amount
    return total


def _problems(campaigns: list[Campaign], keys: list[int]) -> Sums:
    """Return the most pressing problem of each: replies given up, else the newest open flag."""
    flags = Flag.objects.filter(campaign__in=keys, settled_at=None)
    newest = flags.values("campaign").annotate(newest=Max("pk")).order_by().values("newest")
    problems: Sums = {flag.campaign_id: flag.kind for flag in Flag.objects.filter(pk__in=newest)}
    failed = ReplyJob.objects.filter(
        ~Q(conversation__purpose=Conversation.Purpose.REHEARSAL),
        conversation__campaign__in=keys,
        state=ReplyJob.State.FAILED,
    )
    rows = failed.values_list("conversation__campaign").annotate(Count("pk")).order_by()
    problems |= {key: _given_up(count) for key, count in rows}
    return problems


def _given_up(count: int) -> str:
    words = ngettext("%(count)d failed reply", "%(count)d failed replies", count)
    return words % {"count": count}
