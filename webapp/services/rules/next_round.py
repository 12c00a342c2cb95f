"""The end of a round: another one follows, or the participation ends with its code.

Apart because it needs both the rounds and the pay, which itself needs the rounds.
"""

from __future__ import annotations

from datetime import datetime

from django.db import transaction

from webapp.models import CompletionCode, Participation
from webapp.services.rules import flags, payment, persona_stack, quota, rounds, states


def finish_round(*, person: Participation, outcome: str, now: datetime) -> CompletionCode | None:
    """End the round that is on; None where another one follows."""
    with transaction.atomic():
        closed = rounds.close(person, outcome)
        if not rounds.goes_on(person, closed.over):
            return payment.settle(person=person, outcome=outcome, now=now, known=closed)
        quota.give_back(person, counts=payment.counts(person.campaign, outcome))
        person.seats.filter(active=True).update(active=False)
        states.move(person, "next", state_at=now, notice="", system=None, waiting_at=None)
        persona_stack.hold(person)
        return None


def finish_between(*, person: Participation, now: datetime) -> CompletionCode | None:
    """End a participation whose rounds are over before another one begins."""
    outcome = Participation.Outcome.COMPLETED
    code = payment.settle(person=person, outcome=outcome, now=now, event="end_between")
    flags.review(person=person, now=now)
    return code
