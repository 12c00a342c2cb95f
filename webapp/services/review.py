"""Reading what was said and rated, and leaving out what must not count; nothing is ever deleted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.core.paginator import Page, Paginator
from django.db import transaction
from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.utils.translation import gettext as _

from webapp.models import (
    Bonus,
    Campaign,
    Conversation,
    Event,
    Flag,
    Participation,
    System,
)
from webapp.services import access, audit, monitor, payment
from webapp.services.fields import Invalid, money, parse_all, text

PAGE = 50  # rows of a list
STEPS: Mapping[str, Q] = {
    "ready": Q(state=Participation.State.READY),
    "waiting": Q(state__in=(Participation.State.WAITING, Participation.State.MATCHED)),
    "chatting": Q(state=Participation.State.CHATTING),
    "rating": Q(state=Participation.State.RATING),
    "done": Q(outcome__in=monitor.DONE),
    "lost": Q(state=Participation.State.ENDED) & ~Q(outcome__in=monitor.DONE),
}
Reviewed = Conversation | Participation
FLAGGED = {"yes": True, "no": False}


class AnotherMeanwhile(Exception):
    """A bonus was given since the form was shown: look again before giving another."""


@dataclass(frozen=True)
class Choice:
    """One choice of a filter."""

    value: str
    label: str


def conversations(campaign: Campaign, query: Mapping[str, str]) -> Page[Conversation]:
    """Return a page of conversations; what a filter does not know is left out of it."""
    flags = Flag.objects.filter(conversation=OuterRef("pk"))
    rows: QuerySet[Any] = Conversation.objects.filter(campaign=campaign, purpose=_purpose(query))
    rows = rows.annotate(
        messages=Count("events", filter=Q(events__kind=Event.Kind.MESSAGE)), flagged=Exists(flags)
    )
    if query.get("system", "").isdecimal():
        rows = rows.filter(system_id=int(query["system"][:18]))
    if query.get("state") in Conversation.State.values:
        rows = rows.filter(state=query["state"])
    if query.get("flagged") in FLAGGED:
        rows = rows.filter(flagged=FLAGGED[query["flagged"]])
    if query.get("excluded") in FLAGGED:
        rows = rows.exclude(excluded="") if FLAGGED[query["excluded"]] else rows.filter(excluded="")
    rows = rows.select_related("system").prefetch_related("flags").order_by("-id")
    return Paginator(rows, PAGE).get_page(query.get("page"))


def filters(campaign: Campaign) -> dict[str, list[Choice]]:
    """Return the choices of the filters of the conversations' list."""
    systems = System.objects.filter(campaign=campaign)
    return {
        "system": [Choice(str(system.pk), system.name) for system in systems],
        "state": [Choice(value, label) for value, label in Conversation.State.choices],
        "flagged": [Choice("yes", _("flagged")), Choice("no", _("not flagged"))],
        "excluded": [Choice("yes", _("excluded")), Choice("no", _("not excluded"))],
    }


def people(campaign: Campaign, query: Mapping[str, str]) -> Page[Participation]:
    """Return a page of people; `step` is a step of the monitor's funnel."""
    rows = Participation.objects.filter(campaign=campaign).select_related("system", "code")
    if query.get("step") in STEPS:
        rows = rows.filter(STEPS[query["step"]])
    if query.get("system", "").isdecimal():
        rows = rows.filter(system_id=int(query["system"][:18]))
    rows = rows.prefetch_related("flags", "bonuses").order_by("-id")
    return Paginator(rows, PAGE).get_page(query.get("page"))


def paged(rows: QuerySet[Any], page: str | None) -> Page[Any]:
    """Return a page of a list."""
    return Paginator(rows, PAGE).get_page(page)


def person(campaign: Campaign, pk: int) -> Participation:
    """Return one of the campaign's people with everything their page shows."""
    rows = Participation.objects.filter(campaign=campaign).select_related("system", "code")
    found = rows.prefetch_related("flags", "bonuses__given_by", "seats").filter(pk=pk).first()
    if found is None:
        raise access.NotFound(f"participation {pk} of campaign {campaign.pk}")
    return found


def minutes(person: Participation) -> float:
    """Return the minutes from joining to the end, or to the last sign of life."""
    until = person.ended_at or person.seen_at
    return max(0.0, (until - person.joined_at).total_seconds() / 60)


def exclude(*, row: Reviewed, by: Any, reason: str, now: datetime) -> Reviewed:
    """Leave a conversation or a person out of the results, for a stated reason."""
    return _mark(row, by, "excluded", reason, now)


def include(*, row: Reviewed, by: Any, now: datetime) -> Reviewed:
    """Undo an exclusion."""
    return _mark(row, by, "included", "", now)


def give_bonus(*, person: Participation, raw: Mapping[str, str], by: Any, now: datetime) -> Bonus:
    """Give a bonus. The form says how many it showed, so that a double click gives one."""
    values = parse_all(raw, {"amount": money(positive=True), "bonus_reason": text(most=200)})
    with transaction.atomic():
        row = Participation.objects.select_for_update().get(pk=person.pk)
        if raw.get("given") != str(row.bonuses.count()):
            raise AnotherMeanwhile
        return payment.bonus(
            person=row, amount=values["amount"], reason=values["bonus_reason"], by=by, now=now
        )


def settle_flag(*, campaign: Campaign, pk: int, by: Any, now: datetime) -> Flag:
    """Note that a flag was looked at; it decides nothing by itself."""
    with transaction.atomic():
        flag = Flag.objects.filter(campaign=campaign, pk=pk).first()
        if flag is None:
            raise access.NotFound(f"flag {pk} of campaign {campaign.pk}")
        if Flag.objects.filter(pk=pk, settled_at=None).update(settled_at=now):
            actor = by.get_username()
            audit.append(actor=actor, action="flag settled", campaign=campaign, now=now, flag=pk)
        flag.refresh_from_db()
        return flag


def read_reason(raw: Mapping[str, str]) -> str:
    """Return the reason of an exclusion, or raise `Invalid`."""
    try:
        return str(parse_all(raw, {"reason": text(most=200)})["reason"])
    except Invalid as problem:
        raise Invalid({"reason": problem.problems["reason"]}) from None


def _purpose(query: Mapping[str, str]) -> str:
    static = query.get("purpose") == Conversation.Purpose.CONTEXT
    return Conversation.Purpose.CONTEXT if static else Conversation.Purpose.STUDY


def _mark(row: Reviewed, by: Any, action: str, reason: str, now: datetime) -> Reviewed:
    """Set or clear the reason; a repeat changes nothing and is not logged again."""
    kind = type(row)
    with transaction.atomic():
        rows: QuerySet[Any] = kind._default_manager.filter(pk=row.pk).exclude(excluded=reason)
        if rows.update(excluded=reason):
            audit.append(
                actor=by.get_username(),
                action=f"{kind.__name__.lower()} {action}",
                campaign=row.campaign,
                now=now,
                row=row.pk,
                reason=reason,
            )
        row.refresh_from_db()
        return row
