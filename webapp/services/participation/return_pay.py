"""Pay of who left, came back, and finds no place to go on: what stopping would have paid (R21).

Apart because it asks both the rules of pay and what a campaign has left.
"""

from __future__ import annotations

from datetime import datetime

from django.db import transaction

from webapp.models import Campaign, Participation
from webapp.services.conversation import allocation
from webapp.services.rules import ledger, payment, work
from webapp.services.rules.payment import Due

Outcome = Participation.Outcome
UNPAID = (Outcome.LEFT, Outcome.FULL)  # of who came back and found the last place taken


def owed(person: Participation) -> Due | None:
    """Return what is due to who left with work done; None where they can go on, or have a code."""
    is_over = person.state == Participation.State.ENDED and person.outcome in UNPAID
    if not is_over or person.withdrawn_at is not None or payment.code_of(person) is not None:
        return None
    due = payment.part(payment.promised(person), work.of(person, has_left=True))
    return due if due is not None and _is_shut(person) else None


def come_back(*, person: Participation, now: datetime) -> None:
    """Give who came back the code for their work, where there is no place; a repeat does nothing.

    Nobody who stays away is paid, so that a place given away is not paid twice unasked.
    """
    with transaction.atomic():
        rows = Participation.objects.select_for_update(of=("self",), no_key=True)
        locked = rows.select_related("campaign").get(pk=person.pk)
        due = owed(locked)
        if due is not None:
            payment.pay_after_leaving(locked, due, now)


def _is_shut(person: Participation) -> bool:
    """Tell whether the campaign is over or full for them; one that is paused may go on."""
    campaign = person.campaign
    if campaign.state == Campaign.State.PAUSED or ledger.is_held(campaign):
        return False
    is_open = campaign.state == Campaign.State.OPEN and allocation.has_capacity(campaign)
    return not (is_open and ledger.can_reserve(campaign, payment.most_due(person)))
