"""Consents: who agrees to take part, and to which amounts, which then bind (R1, R21)."""

from __future__ import annotations

import hashlib
from dataclasses import asdict
from datetime import datetime
from decimal import Decimal

from django.db import IntegrityError, transaction

from webapp.models import Campaign, Consent, ExternalId, Participation
from webapp.services.rules import access, ledger, payment
from webapp.services.rules.protocols import consent_of

BUSY = "busy_for_new"  # a notice: who waits may come in later


class Closed(Exception):
    """Nobody new is taken, or not this person; `notice` says why."""

    def __init__(self, notice: str) -> None:
        super().__init__(notice)
        self.notice = notice


class Claimed(Closed):
    """The id was not proven, and it has a participation, which it alone does not open (R38)."""

    def __init__(self) -> None:
        super().__init__("claimed")


class PayChanged(Exception):
    """The page that was agreed to showed a higher pay than is paid now: it is to be read again."""

    notice = "pay_changed"


def find(campaign: Campaign, names: list[str]) -> Participation | None:
    """Return the participation of a person, under any of their names in the campaign."""
    return Participation.objects.filter(campaign=campaign, pseudonym__in=names).first()


def check_shown(shown_pay: Decimal | None, terms: payment.Terms) -> None:
    """Raise `PayChanged` where a page promised more than these terms do."""
    if shown_pay is not None and shown_pay > terms.pay:
        raise PayChanged


def create(
    *,
    campaign: Campaign,
    found: Participation | None,
    names: list[str],
    platform: str,
    external_id: str,
    language: str,
    secret: str,
    is_proven: bool,
    now: datetime,
) -> Participation:
    """Create the participation; of two at once for the same person the second one resumes.

    found: what `find` has found of them. Raises `Claimed` where there is one that neither a
    signature nor the secret opens.
    """
    if found is None:
        try:
            with transaction.atomic():
                who = (names[0], platform, external_id, language, secret)
                return _create(campaign, *who, is_proven=is_proven, now=now)
        except IntegrityError:
            found = find(campaign, names)
            if found is None:
                raise
    if not (is_proven or access.held(found, [secret])):
        raise Claimed
    return found


def _create(
    campaign: Campaign,
    name: str,
    platform: str,
    external_id: str,
    language: str,
    secret: str,
    *,
    is_proven: bool,
    now: datetime,
) -> Participation:
    person = Participation.objects.create(
        campaign=campaign,
        pseudonym=name,
        is_proven=is_proven,
        secret_hash=access.secret_hash(secret),
        state_at=now,
        seen_at=now,
        **asdict(payment.offered(campaign)),
    )
    ExternalId.objects.create(participation=person, platform=platform[:20], value=external_id)
    Consent.objects.create(
        participation=person,
        text_hash=hashlib.sha256(consent_of(campaign).encode()).hexdigest(),
        language=language[:10],
    )
    return person


def renew(person: Participation, shown_pay: Decimal | None) -> None:
    """Bind a renewed consent to the better of the former promise and the present pay.

    Raises `PayChanged` where their page showed even more.
    """
    terms = payment.renewed(person)
    check_shown(shown_pay, terms)
    before = person.pay
    if terms.pay == before:
        return
    person.pay = terms.pay
    if person.reserved_pay and not ledger.hold(person, payment.most_due(person)):
        person.pay = before  # who has a place keeps it, as it was promised
        check_shown(shown_pay, payment.promised(person))
        return
    person.save(update_fields=["pay"])
