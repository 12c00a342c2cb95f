"""Review of conversations and ratings, with exclusions; nothing is ever deleted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.core.paginator import Page, Paginator
from django.db import transaction
from django.db.models import Count, Exists, Model, OuterRef, Q, QuerySet
from django.utils.translation import gettext as _

from webapp.models import (
    Bonus,
    CompletionCode,
    Conversation,
    Event,
    Flag,
    Participation,
    ReplyJob,
    System,
)
from webapp.services.monitoring import monitor
from webapp.services.replies import given_up
from webapp.services.rules import access, audit, ledger, payment
from webapp.services.rules.access import AnyCampaign
from webapp.services.staff_forms.fields import Invalid, money, parse_all, text

PAGE = 50  # rows of a list
STEPS: Mapping[str, Q] = {
    "ready": Q(state__in=(Participation.State.ADMISSION, Participation.State.READY)),
    "waiting": Q(state__in=(Participation.State.WAITING, Participation.State.MATCHED)),
    "chatting": Q(state=Participation.State.CHATTING),
    "rating": Q(state=Participation.State.RATING),
    "writing": Q(state=Participation.State.WRITING),
    "done": Q(outcome__in=monitor.DONE),
    "lost": Q(state=Participation.State.ENDED) & ~Q(outcome__in=monitor.DONE),
    # Whoever has a code or a bonus, however they ended: what the sum of the money counts.
    "paid": Q(Exists(CompletionCode.objects.filter(participation=OuterRef("pk"))))
    | Q(Exists(Bonus.objects.filter(participation=OuterRef("pk")))),
}
KINDS: Mapping[str, type[Model]] = {"conversation": Conversation, "participation": Participation}
FLAGGED = {"yes": True, "no": False}


class AnotherMeanwhile(Exception):
    """A bonus was given since the form was shown: look again before giving another."""


@dataclass(frozen=True)
class Reviewed:
    """What a reviewer leaves out or takes in: a conversation or a participation of a campaign."""

    kind: str  # of KINDS
    campaign: AnyCampaign
    pk: int


@dataclass(frozen=True, kw_only=True)
class ReviewedPerson:
    """A participation as staff see it, in the list and on a page of its own."""

    pk: int
    name: str
    outcome: str
    joined_at: datetime
    withdrawn_at: datetime | None
    minutes: float  # from joining to the end, or to the last sign of life
    system: str
    conversations: tuple[int, ...]  # on its own page only
    pay: Decimal  # promised at consent, as are the next three
    currency: str
    quit_rule: str
    least_work: int
    code: CompletionCode | None
    bonuses: tuple[Bonus, ...]
    flags: tuple[Flag, ...]
    excluded: str
    silent: float | None = None  # minutes without a sign of life, where that is odd


@dataclass(frozen=True, kw_only=True)
class TroubledReply:
    """A reply that was given up, or is owed still."""

    pk: int
    bot: str
    conversation: int
    state: str
    is_given_up: bool
    attempt: int
    queued_at: datetime
    error: str


@dataclass(frozen=True, kw_only=True)
class ListedConversation:
    """A conversation of the list."""

    pk: int
    system: str
    state: str
    excluded: str
    messages: int
    started_at: datetime
    flags: tuple[Flag, ...]


@dataclass(frozen=True)
class FilterChoice:
    """One choice of a filter."""

    value: str
    label: str


def conversations(campaign: AnyCampaign, query: Mapping[str, str]) -> Page[Any]:
    """Return a page of `ListedConversation`; what a filter does not know is left out of it."""
    flags = Flag.objects.filter(conversation=OuterRef("pk"))
    rows: QuerySet[Any] = Conversation.objects.filter(
        campaign=campaign.pk, purpose__in=_purposes(query)
    )
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
    found: Page[Any] = Paginator(rows, PAGE).get_page(query.get("page"))
    found.object_list = [
        ListedConversation(
            pk=row.pk,
            system=row.system.name,
            state=row.get_state_display(),
            excluded=row.excluded,
            messages=row.messages,
            started_at=row.started_at,
            flags=tuple(row.flags.all()),
        )
        for row in found.object_list
    ]
    return found


def filters(campaign: AnyCampaign) -> dict[str, list[FilterChoice]]:
    """Return the choices of the filters of the conversations' list."""
    systems = System.objects.filter(campaign=campaign.pk)
    return {
        "system": [FilterChoice(str(system.pk), system.name) for system in systems],
        "state": [FilterChoice(value, label) for value, label in Conversation.State.choices],
        "flagged": [FilterChoice("yes", _("flagged")), FilterChoice("no", _("not flagged"))],
        "excluded": [FilterChoice("yes", _("excluded")), FilterChoice("no", _("not excluded"))],
    }


def people(campaign: AnyCampaign, query: Mapping[str, str], now: datetime) -> Page[Any]:
    """Return a page of `ReviewedPerson`; `step` is one of the monitor's funnel, or paid."""
    rows = _people(campaign, query).select_related("system", "code")
    rows = rows.prefetch_related("flags", "bonuses").order_by("-id")
    found: Page[Any] = Paginator(rows, PAGE).get_page(query.get("page"))
    found.object_list = [_reviewed(row, now) for row in found.object_list]
    return found


def paid(campaign: AnyCampaign, query: Mapping[str, str]) -> Decimal:
    """Return what the people of all pages of such a list were paid, bonuses included."""
    return ledger.owed_to(_people(campaign, query)).total


def _people(campaign: AnyCampaign, query: Mapping[str, str]) -> QuerySet[Participation]:
    rows = Participation.objects.filter(campaign=campaign.pk)
    if query.get("step") in STEPS:
        rows = rows.filter(STEPS[query["step"]])
    if query.get("system", "").isdecimal():
        rows = rows.filter(system_id=int(query["system"][:18]))
    return rows


def troubled_replies(campaign: AnyCampaign, page: str | None) -> Page[Any]:
    """Return a page of the replies that were given up or are owed, as `TroubledReply`."""
    found: Page[Any] = Paginator(given_up.troubled(campaign), PAGE).get_page(page)
    found.object_list = [
        TroubledReply(
            pk=job.pk,
            bot=job.bot,
            conversation=job.conversation_id,
            state=job.get_state_display(),
            is_given_up=job.state == ReplyJob.State.FAILED,
            attempt=job.attempt,
            queued_at=job.queued_at,
            error=job.error,
        )
        for job in found.object_list
    ]
    return found


def person(campaign: AnyCampaign, pk: int, now: datetime) -> ReviewedPerson:
    """Return one of the campaign's people with everything their page shows."""
    rows = Participation.objects.filter(campaign=campaign.pk).select_related("system", "code")
    found = rows.prefetch_related("flags", "bonuses__given_by", "seats").filter(pk=pk).first()
    if found is None:
        raise access.NotFound(f"participation {pk} of campaign {campaign.pk}")
    return _reviewed(found, now, tuple(seat.conversation_id for seat in found.seats.all()))


def _reviewed(
    row: Participation, now: datetime, conversations: tuple[int, ...] = ()
) -> ReviewedPerson:
    return ReviewedPerson(
        pk=row.pk,
        name=str(row),
        outcome=row.get_outcome_display() or row.get_state_display(),
        joined_at=row.joined_at,
        withdrawn_at=row.withdrawn_at,
        minutes=minutes(row),
        system=row.system.name if row.system else "",
        conversations=conversations,
        pay=row.pay,
        currency=row.currency,
        quit_rule=row.get_quit_rule_display(),
        least_work=row.least_work,
        code=getattr(row, "code", None),
        bonuses=tuple(row.bonuses.all()),
        flags=tuple(row.flags.all()),
        excluded=row.excluded,
        silent=_silent(row, now),
    )


def _silent(row: Participation, now: datetime) -> float | None:
    after = monitor.SILENT_AFTER.get(Participation.State(row.state))
    since = now - row.seen_at
    return since.total_seconds() / 60 if after is not None and since > after else None


def minutes(person: Participation) -> float:
    """Return the minutes from joining to the end, or to the last sign of life."""
    until = person.ended_at or person.seen_at
    return max(0.0, (until - person.joined_at).total_seconds() / 60)


def exclude(*, row: Reviewed, by: Any, reason: str, now: datetime) -> None:
    """Leave a conversation or a person out of the results, for a stated reason."""
    _mark(row, by, "excluded", reason, now)


def include(*, row: Reviewed, by: Any, now: datetime) -> None:
    """Undo an exclusion."""
    _mark(row, by, "included", "", now)


def give_bonus(
    *, campaign: AnyCampaign, pk: int, raw: Mapping[str, str], by: Any, now: datetime
) -> Bonus:
    """Give a bonus. The form says how many it showed, so that a double click gives one."""
    people = Participation.objects.filter(campaign=campaign.pk, pk=pk)
    values = parse_all(raw, {"amount": money(positive=True), "bonus_reason": text(most=200)})
    with transaction.atomic():
        row = people.select_for_update().first()
        if row is None:
            raise access.NotFound(f"participation {pk} of campaign {campaign.pk}")
        if raw.get("given") != str(row.bonuses.count()):
            raise AnotherMeanwhile
        try:
            return payment.bonus(
                person=row, amount=values["amount"], reason=values["bonus_reason"], by=by, now=now
            )
        except ledger.OverBudget as problem:
            complaint = _("is more than the %(free)s that the budget has left; raise it first")
            raise Invalid({"amount": complaint % {"free": problem.free}}) from None


def settle_flag(*, campaign: AnyCampaign, pk: int, by: Any, now: datetime) -> Flag:
    """Note that a flag was looked at; it decides nothing by itself."""
    with transaction.atomic():
        flag = Flag.objects.filter(campaign=campaign.pk, pk=pk).first()
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


def _purposes(query: Mapping[str, str]) -> tuple[str, ...]:
    """Return what is listed: replies to contexts, or else whole conversations."""
    kinds = Conversation.Purpose
    is_static = query.get("purpose") == kinds.CONTEXT
    return (kinds.CONTEXT,) if is_static else (kinds.STUDY, kinds.IMPORTED)


def _mark(row: Reviewed, by: Any, action: str, reason: str, now: datetime) -> None:
    """Set or clear the reason; a repeat changes nothing and is not logged again."""
    with transaction.atomic():
        rows: QuerySet[Any] = KINDS[row.kind]._default_manager.filter(
            campaign=row.campaign.pk, pk=row.pk
        )
        if rows.exclude(excluded=reason).update(excluded=reason):
            audit.append(
                actor=by.get_username(),
                action=f"{row.kind} {action}",
                campaign=row.campaign,
                now=now,
                row=row.pk,
                reason=reason,
            )
        elif not rows.exists():
            raise access.NotFound(f"{row.kind} {row.pk} of campaign {row.campaign.pk}")
