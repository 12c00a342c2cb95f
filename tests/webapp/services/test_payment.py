"""What each outcome pays and counts: the table of R21, row by row."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

import pytest

from tests.factories import NOW, make_campaign, make_participation, make_staff
from webapp.models import Assignment, AuditEntry, CompletionCode, Item, Participation, QuotaCell
from webapp.services import audit, payment, states

pytestmark = pytest.mark.django_db
Outcome, P = Participation.Outcome, Participation.State
TABLE = [  # outcome, from, code, counts
    (Outcome.COMPLETED, P.RATING, "FULL", 1),
    (Outcome.COMPLETED, P.CHATTING, "FULL", 1),
    (Outcome.PARTNER_LEFT, P.RATING, "FULL", 0),
    (Outcome.FAILED, P.CHATTING, "FULL", 0),
    (Outcome.STOPPED, P.CHATTING, "FULL", 0),
    (Outcome.STOPPED, P.WAITING, "FULL", 0),
    (Outcome.QUIT, P.CHATTING, "FULL", 0),
    (Outcome.NOBODY, P.WAITING, "WAITING", 0),
    (Outcome.FULL, P.READY, None, 0),
    (Outcome.DECLINED, P.READY, None, 0),
    (Outcome.LEFT, P.CHATTING, None, 0),
]


def holder(state: str, **changes: Any) -> Participation:
    """Return somebody in a state who holds a place of a system."""
    campaign = make_campaign(**changes)
    QuotaCell.objects.update(reserved=1)
    return make_participation(campaign, state=state, system=campaign.systems.get(), holds_slot=True)


def test_every_outcome_has_a_rule() -> None:
    assert set(payment.RULES) == set(Outcome.values)
    assert {row[0] for row in TABLE} == set(Outcome)


@pytest.mark.parametrize(("outcome", "state", "kind", "completed"), TABLE)
def test_an_outcome_pays_and_counts(
    outcome: str, state: str, kind: str | None, completed: int
) -> None:
    person = holder(state)
    code = payment.settle(person=person, outcome=outcome, now=NOW)
    person.refresh_from_db()
    assert (person.state, person.outcome, person.ended_at) == ("ENDED", outcome, NOW)
    assert (code.kind if code else None) == kind
    if code:
        assert code.amount == {"FULL": Decimal("2.00"), "WAITING": Decimal("0.50")}[code.kind]
    cell = QuotaCell.objects.get()
    assert (cell.reserved, cell.completed) == (0, completed)


def test_whether_a_partner_who_left_counts_is_the_campaigns_setting() -> None:
    person = holder(P.RATING, partner_left_counts=True)
    payment.settle(person=person, outcome=Outcome.PARTNER_LEFT, now=NOW)
    assert QuotaCell.objects.get().completed == 1


def test_settling_again_changes_nothing() -> None:
    person = holder(P.CHATTING)
    first = payment.settle(person=person, outcome=Outcome.COMPLETED, now=NOW)
    again = payment.settle(person=person, outcome=Outcome.LEFT, now=NOW)
    assert first == again
    assert Participation.objects.get().outcome == "COMPLETED"
    assert QuotaCell.objects.get().completed == 1
    assert AuditEntry.objects.filter(action="participation ended").count() == 1


def test_an_outcome_that_cannot_follow_is_refused_and_nothing_is_paid() -> None:
    person = holder(P.READY)
    with pytest.raises(states.Illegal):
        payment.settle(person=person, outcome=Outcome.COMPLETED, now=NOW)
    assert not CompletionCode.objects.exists()
    assert QuotaCell.objects.get().reserved == 1


def test_a_code_can_be_typed_and_not_be_guessed() -> None:
    codes = set()
    campaign = make_campaign(personas=0)
    for _ in range(50):
        code = payment.settle(
            person=make_participation(campaign, state=P.CHATTING),
            outcome=Outcome.COMPLETED,
            now=NOW,
        )
        assert code is not None
        assert re.fullmatch(r"([A-HJKMNP-Z2-9]{4}-){2}[A-HJKMNP-Z2-9]{4}", code.code)
        codes.add(code.code)
    assert len(codes) == 50
    assert len(payment.ALPHABET) ** (payment.GROUP * payment.GROUPS) > 2**59


def test_open_assignments_are_given_back() -> None:
    person = holder(P.RATING)
    conversation = person.campaign.conversations.create(
        system=person.campaign.systems.get(), seed=1, started_at=NOW
    )
    item = Item.objects.create(
        campaign=person.campaign, key="i", conversation=conversation, target=5, reserved=1
    )
    Assignment.objects.create(item=item, participation=person, place=0)
    payment.settle(person=person, outcome=Outcome.LEFT, now=NOW)
    item.refresh_from_db()
    assert (item.reserved, item.completed) == (0, 0)
    assert Assignment.objects.get().state == "RELEASED"


def test_the_audit_log_keeps_its_chain() -> None:
    for _ in range(3):
        payment.settle(person=holder(P.CHATTING), outcome=Outcome.COMPLETED, now=NOW)
        QuotaCell.objects.all().delete()
    assert list(audit.broken_links()) == []
    AuditEntry.objects.filter(number=2).update(detail={"pays": "99"})
    assert list(audit.broken_links()) == [2]


def test_a_bonus_is_kept_with_its_reason() -> None:
    staff = make_staff()
    person = holder(P.CHATTING)
    bonus = payment.bonus(
        person=person, amount=Decimal("1.50"), reason="kind and lively", by=staff, now=NOW
    )
    assert list(person.bonuses.all()) == [bonus]
    assert AuditEntry.objects.get(action="bonus given").detail["amount"] == "1.50"
