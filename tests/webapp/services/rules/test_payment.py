"""What each outcome pays and counts: the table of R21, row by row.

What stopping of one's own accord pays is in `test_quit_rule.py`; nobody here has worked.
"""

from __future__ import annotations

import re
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.factories import NOW, make_campaign, make_participation, make_staff
from tests.webapp.services.written import came, of_replies, write
from webapp.models import (
    Assignment,
    AuditEntry,
    CompletionCode,
    Item,
    Participation,
    Persona,
    QuotaCell,
    Seat,
)
from webapp.services.rules import audit, payment, persona_stack, quota, states

pytestmark = pytest.mark.django_db
Outcome, P = Participation.Outcome, Participation.State
TABLE = [  # outcome, from, code, counts
    (Outcome.COMPLETED, P.RATING, "FULL", 1),
    (Outcome.COMPLETED, P.CHATTING, "FULL", 1),
    (Outcome.PARTNER_LEFT, P.RATING, "FULL", 0),
    (Outcome.FAILED, P.CHATTING, "FULL", 0),
    (Outcome.STOPPED, P.CHATTING, "FULL", 0),
    (Outcome.STOPPED, P.WAITING, "FULL", 0),
    (Outcome.QUIT, P.CHATTING, None, 0),  # by the rule, which pays nothing for nothing
    (Outcome.NOBODY, P.WAITING, "WAITING", 0),
    (Outcome.FULL, P.READY, None, 0),
    (Outcome.DECLINED, P.READY, None, 0),
    (Outcome.LEFT, P.CHATTING, None, 0),
    (Outcome.SCREENED_OUT, P.ADMISSION, None, 0),  # of a campaign that pays nothing for it
    (Outcome.CHECK_FAILED, P.ADMISSION, None, 0),
    (Outcome.CHECK_FAILED, P.RATING, None, 0),
    (Outcome.ONBOARDING, P.RATING, "FULL", 0),
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
    is_admitted = outcome not in (Outcome.SCREENED_OUT, Outcome.CHECK_FAILED)
    assert payment.may_return(person) == (code is None and is_admitted)
    cell = QuotaCell.objects.get()
    assert (cell.reserved, cell.completed) == (0, completed)


def test_the_guide_states_this_table() -> None:
    """docs/running.md has a row for each outcome: what it pays, and whether it counts."""
    text = (Path(__file__).parents[4] / "docs/running.md").read_text(encoding="utf-8")
    table = text.partition("## What is paid")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| ([^|]+) \| ([^|]+) \| ([^|]+) \|$", table, re.MULTILINE)
    told = {label: (pays, counts) for label, pays, counts in rows if label in Outcome.labels}
    words = {"FULL": "full", "WAITING": "waiting pay", "PART": "by the rule of stopping"}
    words["SCREENED"] = "pay of a check"
    assert told == {
        str(Outcome(outcome).label): (
            words.get(str(rule.code), "nothing"),
            "setting, default no"
            if outcome == Outcome.PARTNER_LEFT
            else "yes" * rule.counts or "no",
        )
        for outcome, rule in payment.RULES.items()
    }


def test_whether_a_partner_who_left_counts_is_the_campaigns_setting() -> None:
    person = holder(P.RATING, partner_left_counts=True)
    payment.settle(person=person, outcome=Outcome.PARTNER_LEFT, now=NOW)
    assert QuotaCell.objects.get().completed == 1


def test_an_end_gives_the_persona_back_and_is_confirmed() -> None:
    """R39: the receipt is that of the code."""
    person = holder(P.WAITING)
    persona_stack.hold(person)
    assert Persona.objects.filter(taken=1).count() == 1
    code = payment.settle(person=person, outcome=Outcome.NOBODY, now=NOW)
    person.refresh_from_db()
    assert code is not None
    assert (person.persona, Persona.objects.filter(taken__gt=0).count()) == (None, 0)
    receipt = person.receipts.get()
    assert (receipt.number, receipt.has_code, receipt.pay) == (1, True, code.amount)


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
    campaign = make_campaign(personas=0, target=50)
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


# --- at the edges


def test_what_is_written_of_an_end() -> None:
    """R19, S15: the row, its code and the audit say the same."""
    person = holder(P.CHATTING)
    Participation.objects.update(notice="away")
    code = payment.settle(person=person, outcome=Outcome.COMPLETED, now=NOW)
    assert code is not None
    person.refresh_from_db()
    assert (person.state_at, person.notice, person.holds_slot) == (NOW, "", False)
    assert (code.participation, payment.code_of(person)) == (person, code)
    entry = AuditEntry.objects.get()
    assert (entry.action, entry.campaign) == ("participation ended", person.campaign)
    assert entry.actor == f"participation {person.pk}"
    assert entry.detail == {"outcome": "COMPLETED", "pays": "2.00"}


def test_an_end_without_pay_is_audited_as_nothing() -> None:
    payment.settle(person=holder(P.READY), outcome=Outcome.DECLINED, now=NOW)
    assert AuditEntry.objects.get().detail == {"outcome": "DECLINED", "pays": "0"}


def test_an_end_leaves_the_seats_forms_and_codes_of_others_alone() -> None:
    person, beside = holder(P.CHATTING), holder(P.CHATTING)
    room = person.campaign.conversations.create(
        system=person.campaign.systems.get(), seed=1, started_at=NOW
    )
    for side, one in enumerate((person, beside)):
        Seat.objects.create(conversation=room, side=side, participation=one)
    item = Item.objects.create(
        campaign=person.campaign, key="i", conversation=room, target=5, reserved=2, completed=1
    )
    other = Item.objects.create(
        campaign=person.campaign, key="j", conversation=room, target=5, reserved=1, completed=1
    )
    Assignment.objects.create(item=item, participation=person, place=0)
    Assignment.objects.create(item=item, participation=beside, place=0)
    Assignment.objects.create(item=other, participation=person, place=1, state="DONE")
    code = payment.settle(person=person, outcome=Outcome.COMPLETED, now=NOW)
    assert dict(Seat.objects.values_list("participation", "active")) == {
        person.pk: False,
        beside.pk: True,
    }
    states_of = Assignment.objects.order_by("pk").values_list("state", flat=True)
    assert list(states_of) == ["RELEASED", "RESERVED", "DONE"]
    for row, counts in ((item, (1, 1)), (other, (1, 1))):
        row.refresh_from_db()
        assert (row.reserved, row.completed) == counts
    assert payment.code_of(beside) is None
    cells = {cell.system.campaign: cell for cell in QuotaCell.objects.all()}
    assert (cells[person.campaign].reserved, cells[person.campaign].completed) == (0, 1)
    assert (cells[beside.campaign].reserved, cells[beside.campaign].completed) == (1, 0)
    second = payment.settle(person=beside, outcome=Outcome.COMPLETED, now=NOW)
    assert second != code


def test_a_place_is_given_back_once_and_only_by_who_holds_it() -> None:
    person = holder(P.WAITING)
    QuotaCell.objects.update(reserved=2)
    for _ in range(2):
        quota.give_back(person)
        assert QuotaCell.objects.get().reserved == 1
    assert not person.holds_slot
    assert not Participation.objects.get().holds_slot
    stranger = make_participation(
        person.campaign, state=P.WAITING, system=person.system, holds_slot=False
    )
    quota.give_back(stranger, counts=True)
    assert (QuotaCell.objects.get().reserved, QuotaCell.objects.get().completed) == (1, 0)


def test_who_holds_a_place_of_no_system_gives_nothing_back() -> None:
    person = holder(P.WAITING)
    beside = make_participation(person.campaign, holds_slot=True)
    quota.give_back(beside)
    assert QuotaCell.objects.get().reserved == 1
    assert Participation.objects.get(pk=person.pk).holds_slot


@pytest.mark.parametrize(
    ("outcome", "setting", "counts"),
    [
        (Outcome.COMPLETED, False, True),
        (Outcome.QUIT, True, False),
        (Outcome.PARTNER_LEFT, False, False),
        (Outcome.PARTNER_LEFT, True, True),
    ],
)
def test_what_counts_towards_the_quota(outcome: str, setting: bool, counts: bool) -> None:
    """R21."""
    campaign = make_campaign(personas=0, partner_left_counts=setting)
    assert payment.counts(campaign, outcome) == counts


def test_what_is_written_of_a_bonus() -> None:
    staff, person = make_staff("ann"), holder(P.CHATTING)
    bonus = payment.bonus(
        person=person, amount=Decimal("1.50"), reason="kind and lively", by=staff, now=NOW
    )
    assert (bonus.amount, bonus.reason, bonus.given_by) == (
        Decimal("1.50"),
        "kind and lively",
        staff,
    )
    entry = AuditEntry.objects.get()
    assert (entry.actor, entry.action, entry.campaign) == ("ann", "bonus given", person.campaign)
    assert entry.detail == {
        "participation": person.pk,
        "amount": "1.50",
        "reason": "kind and lively",
    }


def test_forms_are_given_back_in_the_one_order_of_items() -> None:
    """Two who give back the same items must not wait for one another (PostgreSQL)."""
    person = holder(P.RATING)
    room = person.campaign.conversations.create(
        system=person.campaign.systems.get(), seed=1, started_at=NOW
    )
    made = [
        Item.objects.create(
            campaign=person.campaign, key=f"i{number}", conversation=room, target=5, reserved=1
        )
        for number in range(3)
    ]
    for place, item in enumerate(reversed(made)):
        Assignment.objects.create(item=item, participation=person, place=place)
    with CaptureQueriesContext(connection) as queries:
        payment.settle(person=person, outcome=Outcome.LEFT, now=NOW)
    written = [query["sql"] for query in queries if 'UPDATE "webapp_item"' in query["sql"]]
    order = [int(re.findall(r'"id" = (\d+)', sql)[0]) for sql in written]
    assert order == [item.pk for item in made]


def test_the_end_of_a_participation_has_its_time() -> None:
    person = holder(P.CHATTING)
    later = NOW + timedelta(minutes=7)
    payment.settle(person=person, outcome=Outcome.COMPLETED, now=later)
    person.refresh_from_db()
    assert (person.state_at, person.ended_at) == (later, later)


def test_pay_after_leaving_is_of_one_person() -> None:
    campaign = make_campaign()
    person, beside = (
        make_participation(campaign, state=P.ENDED, outcome=Outcome.CHECK_FAILED) for _ in range(2)
    )
    code = payment.pay_after_leaving(person, payment.Due("PART", Decimal("0.50")), NOW)
    assert code is not None
    assert (code.participation, code.amount) == (person, Decimal("0.50"))
    outcomes = dict(Participation.objects.values_list("pk", "outcome"))
    assert outcomes == {person.pk: "LEFT", beside.pk: "CHECK_FAILED"}
    receipt, entry = person.receipts.get(), AuditEntry.objects.get(action="paid after leaving")
    assert (receipt.has_code, receipt.pay) == (True, Decimal("0.50"))
    assert (entry.actor, entry.detail["pays"]) == (f"participation {person.pk}", "0.50")


def test_a_receipt_counts_what_was_written_where_that_is_asked_for() -> None:
    person = came(of_replies(**{"write.batch": 1}), "ann")
    write(person, "Very well.")
    assert person.receipts.get().texts == 1
