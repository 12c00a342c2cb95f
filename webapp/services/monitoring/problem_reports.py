"""Problems that participants reported: read by staff, and marked as settled."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.core.paginator import Page, Paginator
from django.db import transaction
from django.db.models import Count, F, QuerySet

from webapp.models import ProblemReport
from webapp.services.rules import access, audit
from webapp.services.rules.access import AnyCampaign

PAGE = 50


@dataclass(frozen=True)
class ListedReport:
    """A report as the page lists it."""

    pk: int
    person: int
    pseudonym: str
    conversation: int | None
    step: str
    text: str
    is_crisis: bool  # words that suggest one, which were not sent as a report
    made_at: datetime
    settled_at: datetime | None


def of_campaign(campaign: AnyCampaign) -> QuerySet[ProblemReport]:
    """Return the reports of a campaign, of those who withdrew none."""
    return ProblemReport.objects.filter(participation__campaign=campaign.pk)


def unsettled(campaign: AnyCampaign) -> Counter[str]:
    """Return how many reports of each kind nobody has settled."""
    rows = of_campaign(campaign).filter(settled_at=None).order_by()
    return Counter(dict(rows.values_list("kind").annotate(Count("pk"))))


def listed(campaign: AnyCampaign, query: Mapping[str, str]) -> Page[Any]:
    """Return a page of reports: those to be read first, of a crisis before all, then the newest."""
    rows = of_campaign(campaign).select_related("participation")
    rows = rows.order_by(F("settled_at").asc(nulls_first=True), "kind", "-id")
    found: Page[Any] = Paginator(rows, PAGE).get_page(query.get("page"))
    found.object_list = [
        ListedReport(
            pk=row.pk,
            person=row.participation_id,
            pseudonym=str(row.participation),
            conversation=row.conversation_id,
            step=row.get_step_display(),
            text=row.text,
            is_crisis=row.kind == ProblemReport.Kind.CRISIS,
            made_at=row.made_at,
            settled_at=row.settled_at,
        )
        for row in found.object_list
    ]
    return found


def settle(*, campaign: AnyCampaign, pk: int, by: Any, now: datetime) -> None:
    """Note that a report was dealt with; a repeat does nothing. Raises `access.NotFound`."""
    with transaction.atomic():
        row = of_campaign(campaign).filter(pk=pk).first()
        if row is None:
            raise access.NotFound(f"report {pk} of campaign {campaign.pk}")
        if ProblemReport.objects.filter(pk=pk, settled_at=None).update(settled_at=now):
            actor = by.get_username()
            audit.append(
                actor=actor, action="problem settled", campaign=campaign, now=now, report=pk
            )
