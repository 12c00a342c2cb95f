"""The list of campaigns, and its filters: state, progress, money, and the last problem of each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import Count, Max, Q, QuerySet, Sum
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from evaluation.registry import get_protocol, protocol_names
from webapp.models import (
    Campaign,
    Conversation,
    Flag,
    Item,
    Participation,
    ProblemReport,
    QuotaCell,
    ReplyJob,
)
from webapp.services.monitoring import monitor
from webapp.services.rules import access, ledger, states
from webapp.services.rules.protocols import protocol_of
from webapp.services.staff_forms.fields import storable

PAGE = 50
Sums = dict[int, Any]
NO_SUMS = {"completed": 0, "target": 0}
LONGEST_SEARCH = 120
ARCHIVED = {
    "": gettext_lazy("not archived"),
    "yes": gettext_lazy("archived"),
    "all": gettext_lazy("all"),
}


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


@dataclass(frozen=True)
class CampaignFilter:
    """Filters of the list: a state, archived or not, and a text of the name or the protocol."""

    search: str = ""
    state: str = ""
    archived: str = ""

    @property
    def states(self) -> list[tuple[str, str]]:
        return list(Campaign.State.choices)

    @property
    def archives(self) -> list[tuple[str, str]]:
        return [(value, str(words)) for value, words in ARCHIVED.items()]

    @property
    def is_set(self) -> bool:
        return self != CampaignFilter()


def read_filter(query: Mapping[str, str]) -> CampaignFilter:
    """Return the filters of an address; what a filter does not know is left out of it."""
    search = query.get("search", "").strip()[:LONGEST_SEARCH]
    state, archived = query.get("state", ""), query.get("archived", "")
    return CampaignFilter(
        search=search if storable(search) else "",
        state=state if state in Campaign.State.values else "",
        archived=archived if archived in ARCHIVED else "",
    )


def lines(user: access.User, page: str | None, chosen: CampaignFilter | None = None) -> Page[Any]:
    """Return a page of the user's campaigns; as many queries, however many there are."""
    rows = _chosen(access.campaigns(user), chosen or CampaignFilter())
    found: Page[Any] = Paginator(rows, PAGE).get_page(page)
    found.object_list = rows_of(list(found.object_list))
    return found


def is_empty(user: access.User) -> bool:
    """Tell whether the user has no campaign at all, whatever a filter would leave."""
    return not access.campaigns(user).exists()


def _chosen(rows: QuerySet[Campaign], chosen: CampaignFilter) -> QuerySet[Campaign]:
    if chosen.archived != "all":
        rows = rows.filter(archived_at__isnull=not chosen.archived)
    if chosen.state:
        rows = rows.filter(state=chosen.state)
    if chosen.search:
        text = chosen.search.casefold()
        titled = [name for name in protocol_names() if text in get_protocol(name).title.casefold()]
        own = Q(own_protocol__title__icontains=chosen.search)
        rows = rows.filter(Q(name__icontains=chosen.search) | Q(protocol__in=titled) | own)
    return rows


def rows_of(campaigns: list[Campaign]) -> list[CampaignRow]:
    """Return each campaign with its progress; as many queries, however many there are."""
    keys = [campaign.pk for campaign in campaigns]
    wanted = _wanted(keys)
    present = _present(keys)
    books = ledger.books_of(campaigns)
    problems = _problems(campaigns, keys)
    return [
        _line(
            campaign,
            wanted.get(campaign.pk, NO_SUMS),
            present.get(campaign.pk, 0),
            books[campaign.pk],
            problems.get(campaign.pk, ""),
        )
        for campaign in campaigns
    ]


def _line(
    campaign: Campaign,
    sums: dict[str, int],
    present: int,
    books: ledger.Books,
    problem: str,
) -> CampaignRow:
    protocol = protocol_of(campaign)
    return CampaignRow(
        campaign=campaign,
        protocol=protocol.title,
        completed=sums["completed"],
        target=sums["target"],
        present=present,
        money=monitor.money(books, campaign.currency),
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


def _problems(campaigns: list[Campaign], keys: list[int]) -> Sums:
    """Return the most pressing problem of each: replies given up, reports, the newest open flag."""
    flags = Flag.objects.filter(campaign__in=keys, settled_at=None)
    newest = flags.values("campaign").annotate(newest=Max("pk")).order_by().values("newest")
    problems: Sums = {flag.campaign_id: flag.kind for flag in Flag.objects.filter(pk__in=newest)}
    reports = ProblemReport.objects.filter(participation__campaign__in=keys, settled_at=None)
    reported = reports.order_by().values_list("participation__campaign", flat=True).distinct()
    problems |= {key: _("a participant reported a problem") for key in reported}
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
