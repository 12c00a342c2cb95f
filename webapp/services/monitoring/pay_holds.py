"""Payments that wait for a person: who looks lets them go or refuses them, with a reason (R37).

A code is always given, and nothing but a person refuses a payment; one that nobody decides in time
is let go. What is refused is not owed: no sheet, sum or panel pays it.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from webapp.models import PayHold
from webapp.services.rules import access, audit, ledger
from webapp.services.rules.access import AnyCampaign
from webapp.services.staff_forms.fields import Invalid, storable

LEAST, MOST = 10, 300  # characters of a reason, which the participant reads
AT_ONCE = 200
BECAUSE = {
    "quit": gettext_lazy("stopped early, as most of the latest people did"),
    "idle": gettext_lazy("was paid without any work, as nearly all of the latest people were"),
    "one_word": gettext_lazy("wrote single words, as most of the latest people did"),
    "flags": gettext_lazy("has flags"),
}


class AlreadyDecided(Exception):
    """Somebody else decided, or the time ran out."""


@dataclass(frozen=True, kw_only=True)
class HeldPayment:
    """One payment that waits, as the pay sheet lists it."""

    pk: int
    person: int
    pseudonym: str
    outcome: str
    amount: Decimal
    because: str
    until: datetime


def waiting(campaign: AnyCampaign) -> QuerySet[PayHold]:
    """Return what nobody has decided yet."""
    rows = PayHold.objects.filter(decided_at=None)
    return rows.filter(code__participation__campaign=campaign.pk)


def listed(campaign: AnyCampaign) -> list[HeldPayment]:
    """Return the payments that wait, those first whose time runs out first."""
    rows = waiting(campaign).select_related("code__participation").order_by("until", "pk")
    return [
        HeldPayment(
            pk=row.pk,
            person=row.code.participation_id,
            pseudonym=str(row.code.participation),
            outcome=row.code.participation.get_outcome_display(),
            amount=row.code.amount,
            because=str(BECAUSE[row.because]),
            until=row.until,
        )
        for row in rows[:AT_ONCE]
    ]


def read_reason(raw: str) -> str:
    """Return the reason of a refusal. Raises `Invalid`."""
    reason = " ".join(raw.split())
    if not LEAST <= len(reason) <= MOST or not storable(reason):
        right = _("Say in %(least)d to %(most)d characters why: the participant reads it.")
        raise Invalid({"reason": right % {"least": LEAST, "most": MOST}})
    return reason


def release(*, campaign: AnyCampaign, pk: int, by: Any, now: datetime) -> None:
    """Let a payment go. Raises `AlreadyDecided` and `access.NotFound`."""
    with transaction.atomic():
        row = _decide(campaign, pk, decided_at=now, decided_by=by)
        _log(row, "payment let go", by.get_username(), now)


def refuse(*, campaign: AnyCampaign, pk: int, by: Any, reason: str, now: datetime) -> None:
    """Refuse a payment; its amount is free again. Raises `AlreadyDecided` and `access.NotFound`."""
    with transaction.atomic():
        row = _decide(campaign, pk, decided_at=now, decided_by=by, refused=True, reason=reason)
        ledger.take_back(row.code.participation.campaign, row.code.amount)
        _log(row, "payment refused", by.get_username(), now, reason=reason)


def release_overdue(*, now: datetime) -> int:
    """Let payments go that nobody has looked at in time; return how many."""
    overdue = PayHold.objects.filter(decided_at=None, until__lte=now).order_by("until", "pk")
    rows = PayHold.objects.filter(pk__in=list(overdue.values_list("pk", flat=True)[:AT_ONCE]))
    done = 0
    for row in rows.select_related("code__participation__campaign").order_by("pk"):
        with transaction.atomic():
            if PayHold.objects.filter(pk=row.pk, decided_at=None).update(decided_at=now):
                _log(row, "payment let go", "sweeper", now)
                done += 1
    return done


def _decide(campaign: AnyCampaign, pk: int, **decision: Any) -> PayHold:
    """Decide what nobody has decided yet, by one conditional UPDATE."""
    rows = PayHold.objects.filter(code__participation__campaign=campaign.pk)
    row = rows.select_related("code__participation__campaign").filter(pk=pk).first()
    if row is None:
        raise access.NotFound(f"held payment {pk} of campaign {campaign.pk}")
    if not PayHold.objects.filter(pk=pk, decided_at=None).update(**decision):
        raise AlreadyDecided
    return row


def _log(row: PayHold, action: str, actor: str, now: datetime, **about: str) -> None:
    person = row.code.participation
    audit.append(
        actor=actor,
        action=action,
        campaign=person.campaign,
        now=now,
        participation=person.pk,
        amount=str(row.code.amount),
        **about,
    )
