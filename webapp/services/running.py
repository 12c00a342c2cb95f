"""Changes of a launched campaign: each is an amendment that everybody can read; the plan stays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.db.models import F
from django.utils.translation import gettext as _

from webapp.models import Amendment, Campaign, Item, QuotaCell
from webapp.services import audit, states
from webapp.services.fields import BadField, Invalid, money, parse_all, text, whole
from webapp.services.plans import protocol_of

RUNNING = (Campaign.State.OPEN, Campaign.State.PAUSED)
MOST_MORE = 10_000


@dataclass(frozen=True)
class Place:
    """What can be extended: a system's target, or the raters of every item."""

    name: str
    label: str
    target: int


def pause(*, campaign: Campaign, by: Any, reason: str, now: datetime) -> Campaign:
    """Let nobody join or be paired; who chats finishes (R22)."""
    return _move(campaign, "pause", _("Paused"), by, reason, now)


def resume(*, campaign: Campaign, by: Any, reason: str, now: datetime) -> Campaign:
    """Open a paused campaign again."""
    return _move(campaign, "resume", _("Resumed"), by, reason, now)


def stop(*, campaign: Campaign, by: Any, reason: str, now: datetime) -> Campaign:
    """End the campaign for good: the sweeper pays everybody who is in it in full (R22)."""
    return _move(campaign, "stop", _("Stopped"), by, reason, now, ended_at=now)


def places(campaign: Campaign) -> list[Place]:
    """Return what the campaign can be extended by."""
    if protocol_of(campaign).chat is None:
        item = campaign.items.order_by("-target").first()
        return [Place("raters", _("Raters an item"), item.target if item else 0)]
    cells = QuotaCell.objects.filter(system__campaign=campaign).select_related("system")
    return [Place(cell.system.name, cell.system.name, cell.target) for cell in cells.order_by("pk")]


def extend(
    *, campaign: Campaign, more: Mapping[str, int], by: Any, reason: str, now: datetime
) -> Campaign:
    """Want more of what `places` lists; targets only grow, so nobody loses their place."""
    with transaction.atomic():
        row = _running(campaign, "extend")
        known = {place.name: place for place in places(row)}
        wanted = {name: count for name, count in more.items() if count > 0 and name in known}
        if not wanted:
            raise Invalid({"more": _("is 0 everywhere; say how many more are wanted")})
        for name, count in wanted.items():
            _grow(row, name, count)
        changes = ", ".join(
            f"{known[name].label} {known[name].target} → {known[name].target + count}"
            for name, count in wanted.items()
        )
        _amend(row, by, _("Extended: %(changes)s") % {"changes": changes}, reason, now)
        audit.append(
            actor=by.get_username(), action="campaign extended", campaign=row, now=now, more=wanted
        )
        return row


def change_pay(
    *, campaign: Campaign, pay: Decimal, by: Any, reason: str, now: datetime
) -> Campaign:
    """Pay another amount from now on; codes that were given keep theirs."""
    with transaction.atomic():
        row = _running(campaign, "change the pay of")
        if pay == row.pay:
            raise Invalid({"pay": _("is what is paid already; write another amount")})
        if pay < row.waiting_pay:
            raise Invalid({"pay": _("is less than the pay for waiting in vain; write more")})
        text = _("Pay changed: %(old)s → %(new)s %(currency)s") % {
            "old": row.pay,
            "new": pay,
            "currency": row.currency,
        }
        audit.append(
            actor=by.get_username(),
            action="pay changed",
            campaign=row,
            now=now,
            old=str(row.pay),
            new=str(pay),
        )
        Campaign.objects.filter(pk=row.pk).update(pay=pay)
        _amend(row, by, text, reason, now)
        row.refresh_from_db()
        return row


def read_reason(raw: Mapping[str, str]) -> str:
    """Return why something is done, or raise `Invalid`."""
    values = parse_all(raw, {"reason": text(most=200)})
    return str(values["reason"])


def read_more(campaign: Campaign, raw: Mapping[str, str]) -> dict[str, int]:
    """Return how many more of each place, or raise `Invalid`."""
    number = whole(least=0, most=MOST_MORE)
    parsers = {f"more.{place.name}": number for place in places(campaign)}
    filled = {name: raw.get(name, "").strip() or "0" for name in parsers}
    values = parse_all(filled, parsers)
    return {name.removeprefix("more."): value for name, value in values.items()}


def read_pay(raw: Mapping[str, str]) -> Decimal:
    """Return an amount, or raise `Invalid`."""
    try:
        return Decimal(money()(raw.get("pay", "")))
    except BadField as problem:
        raise Invalid({"pay": str(problem)}) from None


def amendments(campaign: Campaign) -> list[Amendment]:
    """Return the campaign's amendments, oldest first."""
    return list(campaign.amendments.select_related("made_by"))


def _move(
    campaign: Campaign, event: str, word: str, by: Any, reason: str, now: datetime, **fields: Any
) -> Campaign:
    with transaction.atomic():
        row = states.move(campaign, event, **fields)
        _amend(row, by, word, reason, now)
        audit.append(
            actor=by.get_username(),
            action=f"campaign {event}",
            campaign=row,
            now=now,
            reason=reason,
        )
        return row


def _running(campaign: Campaign, event: str) -> Campaign:
    row = Campaign.objects.select_for_update().get(pk=campaign.pk)
    if row.state not in RUNNING:
        raise states.Illegal(row, event, row.state)
    return row


def _grow(campaign: Campaign, name: str, count: int) -> None:
    if protocol_of(campaign).chat is None:
        Item.objects.filter(campaign=campaign).update(target=F("target") + count)
    else:
        cells = QuotaCell.objects.filter(system__campaign=campaign, system__name=name)
        cells.update(target=F("target") + count)


def _amend(campaign: Campaign, by: Any, what: str, reason: str, now: datetime) -> None:
    said = f"{what}. {reason}" if reason else what
    Amendment.objects.create(campaign=campaign, made_by=by, text=said)
