"""Changes of a launched campaign: each is an amendment that everybody can read; the plan stays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.db.models import Count, F, QuerySet
from django.utils.translation import gettext as _

from webapp.models import PEOPLE, Amendment, Campaign, Item, Participation, QuotaCell
from webapp.services.replies import allowances
from webapp.services.rules import audit, ledger, persona_stack, states
from webapp.services.rules.access import AnyCampaign, row_of
from webapp.services.rules.protocols import protocol_of
from webapp.services.staff_forms.fields import (
    MOST_BUDGET,
    BadField,
    Invalid,
    Parse,
    money,
    optional_money,
    optional_whole,
    parse_all,
    text,
    whole,
)

RUNNING = (Campaign.State.OPEN, Campaign.State.PAUSED)
MOST_MORE = 10_000
NO_TARGETS: Mapping[str, str] = {}


class Unconfirmed(Exception):
    """The pay would be lowered, and the form does not say that this is meant."""


@dataclass(frozen=True)
class Promised:
    """How many people of a campaign were promised an amount at their consent."""

    pay: Decimal
    people: int


@dataclass(frozen=True)
class Quota:
    """A number that can be extended: a system's target, or the raters of every item."""

    name: str
    label: str
    target: int


def pause(*, campaign: AnyCampaign, by: Any, reason: str, now: datetime) -> Campaign:
    """Let nobody join or be paired; conversations under way finish (R22).

    Who waits gives back their persona, and gets one again when the campaign goes on.
    """
    with transaction.atomic():
        row = _move(campaign, "pause", _("Paused"), by, reason, now)
        persona_stack.give_back_all(_people(row).exclude(persona=None).select_related("persona"))
        return row


def resume(*, campaign: AnyCampaign, by: Any, reason: str, now: datetime) -> Campaign:
    """Open a paused campaign again."""
    with transaction.atomic():
        row = _move(campaign, "resume", _("Resumed"), by, reason, now)
        persona_stack.hold_all(_people(row))
        return row


def _people(campaign: Campaign) -> QuerySet[Participation]:
    return campaign.participations.select_related("campaign").order_by("pk")


def stop(*, campaign: AnyCampaign, by: Any, reason: str, now: datetime) -> Campaign:
    """End the campaign for good: the sweeper pays everybody who is in it in full (R22)."""
    return _move(campaign, "stop", _("Stopped"), by, reason, now, ended_at=now)


def quotas(campaign: AnyCampaign) -> list[Quota]:
    """Return the quotas that can be extended."""
    if protocol_of(campaign).chat is None:
        item = row_of(campaign).items.order_by("-target").first()
        return [Quota("raters", _("Raters per item"), item.target if item else 0)]
    cells = QuotaCell.objects.filter(system__campaign=campaign.pk).select_related("system")
    return [Quota(cell.system.name, cell.system.name, cell.target) for cell in cells.order_by("pk")]


def extend(
    *,
    campaign: AnyCampaign,
    more: Mapping[str, int],
    by: Any,
    reason: str,
    now: datetime,
    looked_at: Mapping[str, str] = NO_TARGETS,
) -> Campaign:
    """Want more of what `quotas` lists; targets only grow, so nobody loses their slot.

    looked_at: the targets, by name, that whoever extends has seen; others are refused, so that who
    presses twice extends once.
    """
    with transaction.atomic():
        row = _running(campaign, "extend")
        known = {quota.name: quota for quota in quotas(row)}
        _refuse_passed_over(known, looked_at)
        wanted = {name: count for name, count in more.items() if count > 0 and name in known}
        if not wanted:
            raise Invalid({"more": _("is 0 everywhere; enter how many more are wanted")})
        _refuse_odd(row, wanted)
        before = ledger.slots(row)
        for name, count in wanted.items():
            _grow(row, name, count)
        budget = _grown(row, ledger.cost(row, ledger.slots(row) - before))
        changes = ", ".join(
            f"{known[name].label} {known[name].target} → {known[name].target + count}"
            for name, count in wanted.items()
        )
        words = _("Extended: %(changes)s") % {"changes": changes}
        _amend(row, by, f"{words}{budget}", reason, now)
        audit.append(
            actor=by.get_username(), action="campaign extended", campaign=row, now=now, more=wanted
        )
        return row


def _refuse_passed_over(known: Mapping[str, Quota], looked_at: Mapping[str, str]) -> None:
    """Refuse targets that grew since they were looked at. Raises `Invalid`."""
    for name, quota in known.items():
        if looked_at.get(name, str(quota.target)) != str(quota.target):
            about = {"name": quota.label, "target": quota.target}
            complaint = _(
                "was not added: %(name)s was extended meanwhile, perhaps by pressing twice; "
                "%(target)d are wanted now"
            )
            raise Invalid({"more": complaint % about})


def change_pay(
    *, campaign: AnyCampaign, pay: Decimal, by: Any, reason: str, now: datetime
) -> Campaign:
    """Pay another amount from the next consent on; earlier ones keep theirs (R21)."""
    with transaction.atomic():
        row = _running(campaign, "change the pay of")
        if pay == row.pay:
            raise Invalid({"pay": _("is what is paid already; write another amount")})
        if pay < row.waiting_pay:
            raise Invalid({"pay": _("is less than the pay if no partner is found; write more")})
        text = _("Pay of later consents changed: %(old)s → %(new)s %(currency)s") % {
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
        text += _grown(row, max(Decimal(0), pay - row.pay) * ledger.slots(row, free=True))
        _amend(row, by, text, reason, now)
        row.refresh_from_db()
        return row


TOKEN_FIELDS: Mapping[str, Parse] = {
    "tokens": optional_whole(least=1, most=10**12),
    "token_cost": optional_money,
    "conversation_tokens": optional_whole(least=1, most=10**9),
    "conversation_cost": optional_money,
}


def raise_budget(
    *, campaign: AnyCampaign, budget: Decimal, by: Any, reason: str, now: datetime
) -> Campaign:
    """Set a higher budget; a lower one could not cover what is promised (R37)."""
    with transaction.atomic():
        row = _running(campaign, "raise the budget of")
        ledger.begin(row)
        books = ledger.books(row)
        if budget <= books.budget:
            complaint = _("is not more than the present budget of %(budget)s; it can only grow")
            raise Invalid({"budget": complaint % {"budget": books.budget}})
        _amend(row, by, _grown(row, budget - books.budget).strip(" ."), reason, now)
        audit.append(
            actor=by.get_username(),
            action="budget raised",
            campaign=row,
            now=now,
            old=str(books.budget),
            new=str(budget),
        )
        return row


def token_limits(campaign: AnyCampaign) -> dict[str, int | Decimal]:
    """Return the limits of tokens and their cost that a campaign has, by field."""
    return allowances.limits(row_of(campaign))


def raise_tokens(
    *, campaign: AnyCampaign, raw: Mapping[str, str], by: Any, reason: str, now: datetime
) -> Campaign:
    """Set higher limits of tokens, where any is typed. Raises `Invalid`."""
    with transaction.atomic():
        row = _running(campaign, "raise the tokens of")
        before = allowances.limits(row)
        typed = parse_all(raw, {name: TOKEN_FIELDS[name] for name in before})
        wanted = {name: value for name, value in typed.items() if value is not None}
        lower = [name for name, value in wanted.items() if value <= before[name]]
        complaint = _("is not more than the present limit of %(before)s; it can only grow")
        if lower or not wanted:
            first = (lower or list(before))[0]
            raise Invalid({first: complaint % {"before": before[first]}})
        for name, value in wanted.items():
            allowances.raise_limit(row, name, value)
        words = ", ".join(f"{name} {before[name]} → {value}" for name, value in wanted.items())
        _amend(row, by, _("Limits of tokens raised: %(words)s") % {"words": words}, reason, now)
        audit.append(
            actor=by.get_username(), action="tokens raised", campaign=row, now=now, limits=words
        )
        return row


def let_new_people_in(*, campaign: AnyCampaign, by: Any, reason: str, now: datetime) -> Campaign:
    """Let new people in again, after a look at why they were kept out. A repeat does nothing."""
    with transaction.atomic():
        row = _running(campaign, "let people into")
        if ledger.let_new_people_in(row, now):
            _amend(row, by, _("New places allowed again"), reason, now)
            audit.append(
                actor=by.get_username(), action="new places allowed", campaign=row, now=now
            )
        return row


def _grown(campaign: Campaign, more: Decimal) -> str:
    """Raise the budget; return the words for the amendment, none where nothing is added."""
    ledger.begin(campaign)
    before = ledger.books(campaign).budget
    if not more:
        return ""
    after = ledger.grow(campaign, more).budget
    return ". " + _("Budget: %(old)s → %(new)s %(currency)s") % {
        "old": before,
        "new": after,
        "currency": campaign.currency,
    }


def books(campaign: AnyCampaign) -> ledger.Books:
    """Return the sums of the campaign's money."""
    return ledger.books(row_of(campaign))


def promises(campaign: AnyCampaign) -> list[Promised]:
    """Return what the people who are in a campaign now were promised: no change touches it."""
    people = Participation.objects.filter(campaign=campaign.pk, state__in=states.ACTIVE)
    rows = people.values_list("pay").annotate(Count("pk")).order_by("-pay")
    return [Promised(pay, count) for pay, count in rows]


def read_reason(raw: Mapping[str, str]) -> str:
    """Return why something is done, or raise `Invalid`."""
    values = parse_all(raw, {"reason": text(most=200)})
    return str(values["reason"])


def read_more(campaign: AnyCampaign, raw: Mapping[str, str]) -> dict[str, int]:
    """Return how many more of each quota, or raise `Invalid`."""
    number = whole(least=0, most=MOST_MORE)
    parsers = {f"more.{quota.name}": number for quota in quotas(campaign)}
    filled = {name: raw.get(name, "").strip() or "0" for name in parsers}
    values = parse_all(filled, parsers)
    return {name.removeprefix("more."): value for name, value in values.items()}


def read_targets(campaign: AnyCampaign, raw: Mapping[str, str]) -> dict[str, str]:
    """Return the targets that the page showed."""
    names = [quota.name for quota in quotas(campaign)]
    return {name: raw[f"now.{name}"] for name in names if f"now.{name}" in raw}


def read_pay(campaign: AnyCampaign, raw: Mapping[str, str]) -> Decimal:
    """Return an amount, or raise `Invalid`; `Unconfirmed` where it is lower and not yet meant."""
    try:
        pay = Decimal(money()(raw.get("pay", "")))
    except BadField as problem:
        raise Invalid({"pay": str(problem)}) from None
    if pay < campaign.pay and raw.get("lower") != raw["pay"]:
        raise Unconfirmed(f"pay: {pay} is less than {campaign.pay}")
    return pay


def read_budget(raw: Mapping[str, str]) -> Decimal:
    """Return an amount, or raise `Invalid`."""
    values = parse_all(raw, {"budget": money(most=MOST_BUDGET, positive=True)})
    return Decimal(values["budget"])


def amendments(campaign: AnyCampaign) -> list[Amendment]:
    """Return the campaign's amendments, oldest first."""
    return list(row_of(campaign).amendments.select_related("made_by"))


def _move(
    campaign: AnyCampaign, event: str, word: str, by: Any, reason: str, now: datetime, **fields: Any
) -> Campaign:
    with transaction.atomic():
        row = states.move(row_of(campaign), event, **fields)
        _amend(row, by, word, reason, now)
        audit.append(
            actor=by.get_username(),
            action=f"campaign {event}",
            campaign=row,
            now=now,
            reason=reason,
        )
        return row


def _running(campaign: AnyCampaign, event: str) -> Campaign:
    row = Campaign.objects.select_for_update().get(pk=campaign.pk)
    if row.state not in RUNNING:
        raise states.Illegal(row, event, row.state)
    return row


def _refuse_odd(campaign: Campaign, wanted: Mapping[str, int]) -> None:
    """Refuse an odd target of people, who come in pairs. Raises `Invalid`."""
    cells = QuotaCell.objects.filter(
        system__campaign=campaign, system__bot=PEOPLE, system__name__in=wanted
    )
    for name, target in cells.values_list("system__name", "target"):
        if (target + wanted[name]) % 2:
            text = _("makes %(target)d of %(name)s, and people come in pairs; make it even")
            raise Invalid({"more": text % {"target": target + wanted[name], "name": name}})


def _grow(campaign: Campaign, name: str, count: int) -> None:
    if protocol_of(campaign).chat is None:
        Item.objects.filter(campaign=campaign.pk).update(target=F("target") + count)
    else:
        cells = QuotaCell.objects.filter(system__campaign=campaign.pk, system__name=name)
        cells.update(target=F("target") + count)


def _amend(campaign: Campaign, by: Any, what: str, reason: str, now: datetime) -> None:
    line = f"{what}. {reason}" if reason else what
    Amendment.objects.create(campaign=campaign, made_by=by, text=line)
