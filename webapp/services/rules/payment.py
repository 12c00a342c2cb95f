"""Pay per outcome, and the code that proves it (R19, R21). The rules are data."""

from __future__ import annotations

import math
import secrets
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

from django.db import transaction

from webapp.models import (
    Assignment,
    Bonus,
    Campaign,
    CompletionCode,
    Participation,
    Seat,
)
from webapp.services.receipts import issuing
from webapp.services.rules import (
    audit,
    endings,
    ledger,
    persona_stack,
    quota,
    rounds,
    states,
    work,
)
from webapp.services.rules.protocols import protocol_of

Outcome, Kind = Participation.Outcome, CompletionCode.Kind
QuitRule = Campaign.QuitRule
ALPHABET = "ABCDEFGHJKMNPQRSTUVWXYZ23456789"  # without what is misread: 0 O, 1 I L
GROUPS, GROUP = 3, 4  # 31^12 codes: nobody guesses one


@dataclass(frozen=True)
class Rule:
    """What ending in an outcome means; `event` is the move that leads there."""

    event: str
    code: str | None  # which pay, if any; a part is by the campaign's rule of stopping
    counts: bool  # towards the quota
    notice: str
    unpaid: str = ""  # the notice where no part is due


@dataclass(frozen=True, kw_only=True)
class Terms:
    """The promise of a consent; the fields are named as those of the rows that hold them.

    pay: of each conversation.
    """

    pay: Decimal
    waiting_pay: Decimal
    currency: str
    quit_rule: str
    least_work: int
    screening_pay: Decimal


@dataclass(frozen=True)
class Due:
    """The amount of a code, and its reason."""

    kind: str
    amount: Decimal


RULES: dict[str, Rule] = {
    Outcome.COMPLETED: Rule("complete", Kind.FULL, True, "completed"),
    Outcome.PARTNER_LEFT: Rule(
        "complete", Kind.FULL, False, "completed"
    ),  # or as the campaign says
    Outcome.FAILED: Rule("fail", Kind.FULL, False, "failed"),
    Outcome.STOPPED: Rule(
        "stop", Kind.FULL, False, "ended_early", unpaid="ended_before"
    ),  # for who had no place, where the budget has it
    Outcome.QUIT: Rule("stop", Kind.PART, False, "quit", unpaid="quit_unpaid"),
    Outcome.NOBODY: Rule("give_up", Kind.WAITING, False, "waited"),
    Outcome.FULL: Rule("refuse", None, False, "full"),
    Outcome.DECLINED: Rule("stop", None, False, "declined"),
    Outcome.SCREENED_OUT: Rule(
        "screen_out", Kind.SCREENED, False, "screened_out", unpaid="screened_out_unpaid"
    ),
    Outcome.CHECK_FAILED: Rule(
        "fail_check", Kind.SCREENED, False, "check_failed", unpaid="check_failed_unpaid"
    ),
    # Nothing on the page tells it from having finished: the pay is the same.
    Outcome.ONBOARDING: Rule("complete", Kind.FULL, False, "completed"),
    Outcome.LEFT: Rule("leave", None, False, "left_paid", unpaid="left"),
}
NOT_ADMITTED = (
    Outcome.SCREENED_OUT,
    Outcome.CHECK_FAILED,
)  # for good: nobody tries until they pass


ROUNDING = "a part of a cent is rounded up"


def rule_of_stopping(campaign: Campaign) -> dict[str, Any]:
    """Return what stopping of one's own accord pays, as plans and codebooks tell."""
    return {
        "rule": campaign.quit_rule,
        "means": QuitRule(campaign.quit_rule).label,
        "least_work": campaign.least_work,
        "rounding": ROUNDING,
    }


def offered(campaign: Campaign) -> Terms:
    """Return what a campaign promises to a participant who consents now."""
    return _terms(campaign)


def promised(person: Participation) -> Terms:
    """Return the terms promised at a person's consent: it binds, whatever changes later."""
    return _terms(person)


def _terms(row: Campaign | Participation) -> Terms:
    return Terms(
        pay=row.pay,
        waiting_pay=row.waiting_pay,
        currency=row.currency,
        quit_rule=row.quit_rule,
        least_work=row.least_work,
        screening_pay=row.screening_pay,
    )


def renewed(person: Participation) -> Terms:
    """Return the terms of a renewed consent: never less than what was promised before.

    Of all terms only the pay can change while a campaign runs.
    """
    before = promised(person)
    return replace(before, pay=max(before.pay, person.campaign.pay))


def settle(
    *,
    person: Participation,
    outcome: str,
    now: datetime,
    event: str = "",
    known: rounds.Rounds | None = None,
) -> CompletionCode | None:
    """End a participation with an outcome, in one transaction; a repeat returns the first code.

    The move is what decides: of two callers one ends the participation, the other finds it ended.
    It is that of the outcome, unless `event` names another one. known: the rounds, where this
    transaction has closed the last one.
    """
    with transaction.atomic():
        if not _ended(person, event or RULES[outcome].event, outcome, now):
            return code_of(person)
        known = known or rounds.of(person)
        owed = due(person, outcome, known=known)  # before the round is closed
        rounds.close(person, outcome, known)
        quota.give_back(person, counts=counts(person.campaign, outcome))
        if known.is_seated:
            Seat.objects.filter(participation=person, active=True).update(active=False)
        release_assignments(person)
        persona_stack.give_back(person)
        owed = _within_budget(person, owed)
        code = _new_code(person, owed) if owed else None
        has_texts = protocol_of(person.campaign).write is not None
        issuing.issue(person, code, now, has_texts=has_texts)
        _hold_where_unusual(person, code, now)
        audit.append(
            actor=f"participation {person.pk}",
            action="participation ended",
            campaign=person.campaign,
            now=now,
            outcome=str(outcome),
            pays=str(code.amount) if code else "0",
        )
        return code


def _ended(person: Participation, event: str, outcome: str, now: datetime) -> bool:
    """End the participation; False where another caller has ended it."""
    about: dict[str, Any] = {"outcome": outcome, "ended_at": now, "state_at": now, "notice": ""}
    try:
        states.move(person, event, **about)
    except states.Illegal as refusal:
        if refusal.state != Participation.State.ENDED:
            raise
        return False
    return True


def pay_after_leaving(person: Participation, owed: Due, now: datetime) -> CompletionCode | None:
    """Pay who left, from what the budget has left; their row is locked, and they have no code."""
    paid = _within_budget(person, owed)
    if paid is None:
        return None
    Participation.objects.filter(pk=person.pk).update(outcome=Outcome.LEFT)
    code = _new_code(person, paid)
    issuing.issue(person, code, now)
    audit.append(
        actor=f"participation {person.pk}",
        action="paid after leaving",
        campaign=person.campaign,
        now=now,
        pays=str(code.amount),
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


def may_return(person: Participation) -> bool:
    """Tell whether the start link lets a participant begin anew."""
    return may_return_with(person, code_of(person))


def may_return_with(person: Participation, code: CompletionCode | None) -> bool:
    """Tell the same of who has this code: only they may who have none."""
    return person.outcome not in NOT_ADMITTED and code is None


def due(
    person: Participation,
    outcome: str,
    done: work.Work | None = None,
    known: rounds.Rounds | None = None,
) -> Due | None:
    """Return what ending in an outcome now pays a person; None where there is no code for it.

    Each round that is over earns the whole pay, the one that is on what its outcome says. `done`
    is the work of the round that is on, where it was counted already, `known` the rounds.
    """
    known = known or rounds.of(person)
    terms, earlier = promised(person), known.over
    latest = _due_of_round(person, terms, outcome, done, known)
    if not earlier:
        return latest
    if latest is None:
        kind = Kind.FULL if outcome in rounds.OVER else Kind.PART
        return Due(kind, terms.pay * earlier)
    kind = Kind.FULL if latest.kind == Kind.FULL else Kind.PART
    return Due(kind, terms.pay * earlier + latest.amount)


def most_due(person: Participation, known: rounds.Rounds | None = None) -> Decimal:
    """Return the most that the participation can pay when the present round ends."""
    terms, over = promised(person), (known or rounds.of(person)).over
    most = max(terms.pay, terms.waiting_pay, terms.screening_pay)
    return terms.pay * over + most


def _within_budget(person: Participation, owed: Due | None) -> Due | None:
    """Take what is owed from the person's reservation; None where there is nothing to pay it of."""
    paid = ledger.settle(person, owed.amount if owed else Decimal(0))
    if owed is None or (owed.amount and not paid):
        return None
    return owed if paid == owed.amount else Due(Kind.PART, paid)


def _hold_where_unusual(person: Participation, code: CompletionCode | None, now: datetime) -> None:
    """Keep new people out, or let a payment wait, where the requester wants that at odd rates.

    Codes are always given.
    """
    campaign = person.campaign
    if not (campaign.hold_unusual or campaign.hold_payments):
        return
    kind = endings.unusual(campaign.pk, ledger.books(campaign).looked_at)
    if kind and campaign.hold_unusual:
        ledger.keep_new_people_out(campaign, kind, now)
    if kind and campaign.hold_payments and code and endings.is_one(person, kind):
        endings.hold(code, kind, now)


def _due_of_round(
    person: Participation,
    terms: Terms,
    outcome: str,
    done: work.Work | None,
    known: rounds.Rounds,
) -> Due | None:
    """Return what the round that is on pays; one that never began nothing, but for the first."""
    kind = RULES[outcome].code
    if kind == Kind.PART:
        return part(terms, done or work.of(person))
    if kind == Kind.SCREENED:
        return _screened(terms, part(terms, done or work.of(person)))
    if kind == Kind.FULL and known.over and known.current is None:
        return None
    pays = {Kind.FULL: terms.pay, Kind.WAITING: terms.waiting_pay}
    return Due(kind, pays[Kind(kind)]) if kind else None


def _screened(terms: Terms, worked: Due | None) -> Due | None:
    """Return what failing a check pays: as promised for it, or for the work where that is more."""
    amount = max(terms.screening_pay, worked.amount if worked else Decimal(0))
    return Due(Kind.SCREENED, amount) if amount else None


def part(terms: Terms, done: work.Work) -> Due | None:
    """Return what stopping after so much work pays: by the rule, nothing below the least work.

    A part of a cent is rounded up. From the minimum on every rule pays in full, never more.
    """
    is_whole = done.share >= 1
    is_enough = done.done >= terms.least_work and terms.quit_rule != QuitRule.MINIMUM
    if not done.done or not (is_whole or is_enough):
        return None
    share = Fraction(1) if terms.quit_rule == QuitRule.FULL else done.share
    cents = math.ceil(Fraction(terms.pay) * 100 * share)
    amount = (Decimal(cents) / 100).quantize(Decimal("0.01"))
    return Due(Kind.FULL if amount == terms.pay else Kind.PART, amount)


def bonus(*, person: Participation, amount: Decimal, reason: str, by: Any, now: datetime) -> Bonus:
    """Give a bonus for a stated reason. Raises `ledger.OverBudget`."""
    with transaction.atomic():
        ledger.spend(person.campaign, amount)
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


def release_assignments(person: Participation) -> None:
    """Give back the items that a person was to judge, or write about, and has not."""
    reserved = Assignment.objects.filter(
        participation=person, state=Assignment.State.RESERVED
    ).select_related("item")
    for assignment in reserved.order_by("item_id"):
        rows = Assignment.objects.filter(pk=assignment.pk)
        if states.try_move(rows, "release"):
            quota.release(assignment.item)


def _new_code(person: Participation, owed: Due) -> CompletionCode:
    return CompletionCode.objects.create(
        participation=person, code=_draw_code(), kind=owed.kind, amount=owed.amount
    )


def _draw_code() -> str:
    """Draw a code fit for retyping; secret, so not from a campaign's seed."""
    groups = ("".join(secrets.choice(ALPHABET) for _ in range(GROUP)) for _ in range(GROUPS))
    return "-".join(groups)
