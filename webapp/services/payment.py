"""What each outcome pays, and the code that proves it (R19, R21). The rules are data."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db import transaction

from webapp.models import (
    Assignment,
    Bonus,
    Campaign,
    CompletionCode,
    Participation,
    QuotaCell,
    Seat,
)
from webapp.services import audit, quota, states

Outcome, Kind = Participation.Outcome, CompletionCode.Kind
ALPHABET = "ABCDEFGHJKMNPQRSTUVWXYZ23456789"  # without what is misread: 0 O, 1 I L
GROUPS, GROUP = 3, 4  # 31^12 codes: nobody guesses one


@dataclass(frozen=True)
class Rule:
    """What ending in an outcome means; `event` is the move that leads there."""

    event: str
    code: str | None  # which pay, if any
    counts: bool  # towards the quota
    notice: str
    resumes: bool = False  # the start link may begin anew


RULES: dict[str, Rule] = {
    Outcome.COMPLETED: Rule("complete", Kind.FULL, True, "completed"),
    Outcome.PARTNER_LEFT: Rule(
        "complete", Kind.FULL, False, "completed"
    ),  # or as the campaign says
    Outcome.FAILED: Rule("fail", Kind.FULL, False, "failed"),
    Outcome.STOPPED: Rule("stop", Kind.FULL, False, "ended_early"),
    Outcome.QUIT: Rule("stop", Kind.FULL, False, "quit"),
    Outcome.NOBODY: Rule("give_up", Kind.WAITING, False, "waited"),
    Outcome.FULL: Rule("refuse", None, False, "full", resumes=True),
    Outcome.DECLINED: Rule("stop", None, False, "declined", resumes=True),
    Outcome.LEFT: Rule("leave", None, False, "left", resumes=True),
}


def settle(*, person: Participation, outcome: str, now: datetime) -> CompletionCode | None:
    """End a participation with an outcome, in one transaction; a repeat returns the first code.

    The move is what decides: of two callers one ends the participation, the other finds it ended.
    """
    rule = RULES[outcome]
    with transaction.atomic():
        try:
            states.move(person, rule.event, outcome=outcome, ended_at=now, state_at=now, notice="")
        except states.Illegal as refusal:
            if refusal.state != Participation.State.ENDED:
                raise
            return code_of(person)
        give_back_slot(person, counts=counts(person.campaign, outcome))
        Seat.objects.filter(participation=person, active=True).update(active=False)
        _release_assignments(person)
        code = _new_code(person, rule.code) if rule.code else None
        audit.append(
            actor=f"participation {person.pk}",
            action="participation ended",
            campaign=person.campaign,
            now=now,
            outcome=str(outcome),
            pays=str(code.amount) if code else "0",
        )
        return code


def counts(campaign: Campaign, outcome: str) -> bool:
    """Tell whether an outcome counts towards the quota in this campaign."""
    if outcome == Outcome.PARTNER_LEFT:
        return campaign.partner_left_counts
    return RULES[outcome].counts


def code_of(person: Participation) -> CompletionCode | None:
    """Return the code a participation was given, for ever the same one."""
    return CompletionCode.objects.filter(participation=person).first()


def amount(campaign: Campaign, kind: str | None) -> Decimal:
    """Return what a kind of code pays in this campaign."""
    pays: dict[str | None, Decimal] = {Kind.FULL: campaign.pay, Kind.WAITING: campaign.waiting_pay}
    return pays.get(kind, Decimal(0))


def bonus(*, person: Participation, amount: Decimal, reason: str, by: Any, now: datetime) -> Bonus:
    """Give a bonus for a stated reason."""
    with transaction.atomic():
        row = Bonus.objects.create(participation=person, amount=amount, reason=reason, given_by=by)
        audit.append(
            actor=by.get_username(),
            action="bonus given",
            campaign=person.campaign,
            now=now,
            participation=person.pk,
            amount=str(amount),
            reason=reason,
        )
        return row


def give_back_slot(person: Participation, *, counts: bool = False) -> None:
    """Settle the person's reservation once: completed where it counts, else free again."""
    held = Participation.objects.filter(pk=person.pk, holds_slot=True).update(holds_slot=False)
    person.holds_slot = False
    if held and person.system_id is not None:
        cell = QuotaCell.objects.get(system_id=person.system_id)
        quota.complete(cell) if counts else quota.release(cell)


def _release_assignments(person: Participation) -> None:
    reserved = Assignment.objects.filter(
        participation=person, state=Assignment.State.RESERVED
    ).select_related("item")
    for assignment in reserved.order_by("item_id"):
        rows = Assignment.objects.filter(pk=assignment.pk, state=Assignment.State.RESERVED)
        if rows.update(state=Assignment.State.RELEASED):
            quota.release(assignment.item)


def _new_code(person: Participation, kind: str) -> CompletionCode:
    return CompletionCode.objects.create(
        participation=person,
        code=_draw_code(),
        kind=kind,
        amount=amount(person.campaign, kind),
    )


def _draw_code() -> str:
    """Draw a code fit for retyping; secret, so not from a campaign's seed."""
    groups = ("".join(secrets.choice(ALPHABET) for _ in range(GROUP)) for _ in range(GROUPS))
    return "-".join(groups)
