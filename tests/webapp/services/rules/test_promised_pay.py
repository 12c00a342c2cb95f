"""Promised pay: what a consent showed binds for that participation, whatever changes (R21)."""

from __future__ import annotations

from dataclasses import asdict
from decimal import Decimal
from typing import Any

import pytest

from tests.factories import NOW, make_campaign, make_participation, make_staff
from tests.webapp.services.people import after, join, pair, people_campaign, send_message, start
from webapp import notices
from webapp.models import AuditEntry, Campaign, Participation
from webapp.services.campaign import amendments
from webapp.services.data import conversation_records
from webapp.services.participation import consents, enrolment, screens, stopping
from webapp.services.rules import access, payment

pytestmark = pytest.mark.django_db
Outcome, P = Participation.Outcome, Participation.State
RAISED, CUT = Decimal("3.50"), Decimal("0.60")
STATES = {  # from which an outcome follows
    Outcome.COMPLETED: P.RATING,
    Outcome.PARTNER_LEFT: P.RATING,
    Outcome.FAILED: P.CHATTING,
    Outcome.STOPPED: P.CHATTING,
    Outcome.QUIT: P.CHATTING,
    Outcome.NOBODY: P.WAITING,
    Outcome.FULL: P.READY,
    Outcome.DECLINED: P.READY,
    Outcome.SCREENED_OUT: P.ADMISSION,
    Outcome.CHECK_FAILED: P.ADMISSION,
    Outcome.ONBOARDING: P.RATING,
    Outcome.LEFT: P.CHATTING,
}
FULL = (
    Outcome.COMPLETED,
    Outcome.PARTNER_LEFT,
    Outcome.FAILED,
    Outcome.STOPPED,
    Outcome.QUIT,
    Outcome.ONBOARDING,
)


def change(campaign: Campaign, pay: Decimal) -> None:
    amendments.change_pay(campaign=campaign, pay=pay, by=make_staff(), reason="Funds.", now=NOW)
    campaign.refresh_from_db()


def at_work(person: Participation, state: str) -> Participation:
    """Bring somebody to a state, with a word said where they chat."""
    if state == P.CHATTING:
        person = enrolment.start(person=person, now=NOW)
        send_message(person, "hello")
    else:
        Participation.objects.filter(pk=person.pk).update(state=state)
    person.refresh_from_db()
    return person


@pytest.mark.parametrize("pay", [RAISED, CUT])
@pytest.mark.parametrize("is_before", [False, True], ids=["after consent", "before consent"])
@pytest.mark.parametrize("outcome", list(Outcome))
def test_every_outcome_pays_what_its_consent_showed(
    outcome: str, is_before: bool, pay: Decimal
) -> None:
    campaign = make_campaign(quit_rule="FULL", least_work=1)
    if is_before:
        change(campaign, pay)
    person = join(campaign)
    if not is_before:
        change(campaign, pay)
    ending = at_work(person, STATES[Outcome(outcome)])
    code = payment.settle(person=ending, outcome=outcome, now=NOW)
    promised = pay if is_before else Decimal("2.00")
    due = {**dict.fromkeys(FULL, promised), Outcome.NOBODY: Decimal("0.50")}.get(Outcome(outcome))
    assert (code.amount if code else None) == due
    logged = AuditEntry.objects.get(action="participation ended").detail["pays"]
    assert logged == (str(due) if due else "0")
    (row,) = conversation_records.participants(campaign)
    assert (row["promised"], row["pay"]) == (str(promised), logged)
    ended = screens.show(person=Participation.objects.get(), now=NOW)
    assert ended.end is not None
    assert ended.end.amount == (f"{due} USD" if due else "")


@pytest.mark.parametrize("waiting_pay", ["0.10", "1.90"])
def test_waiting_pay_and_currency_are_those_of_the_consent(waiting_pay: str) -> None:
    person = start(make_campaign("personachat_human", systems={"humans": "people"}))
    Campaign.objects.update(waiting_pay=waiting_pay, currency="EUR", pay="9.00")
    shown = screens.show(person=Participation.objects.get(), now=after(400))
    assert "0.50 USD for waiting" in shown.stop
    assert (shown.study.waiting_pay, shown.study.pay) == ("0.50 USD", "2.00 USD")
    code = stopping.stop(person=person, now=after(400)).code
    assert (code.kind, code.amount) == ("WAITING", Decimal("0.50"))
    end = screens.show(person=Participation.objects.get(), now=after(401)).end
    assert end is not None
    assert end.amount == "0.50 USD"


def test_a_notice_names_what_was_promised() -> None:
    campaign = people_campaign()
    first, second = pair(campaign)
    send_message(first, "hello")
    send_message(second, "hi")
    change(campaign, CUT)
    stopping.stop(person=first, now=after(9))
    shown = screens.show(person=Participation.objects.get(pk=second.pk), now=after(10))
    assert shown.notice == notices.text("partner_left", pay="2.00 USD")


def test_who_resumes_at_another_pay_keeps_the_better_one() -> None:
    campaign = make_campaign()
    for name in ("left", "there"):
        join(campaign, name)
    left = Participation.objects.earliest("pk")
    payment.settle(person=left, outcome=Outcome.LEFT, now=NOW)
    for pay, expected in ((CUT, Decimal("2.00")), (RAISED, RAISED), (CUT, RAISED)):
        change(campaign, pay)
        again = [join(campaign, name) for name in ("left", "there")]
        assert [person.state for person in again] == ["READY", "READY"]
        assert [person.pay for person in again] == [expected, expected]
    assert Participation.objects.count() == 2


def test_consenting_again_after_the_end_changes_nothing() -> None:
    campaign = make_campaign()
    person = at_work(join(campaign, "A1"), P.RATING)
    code = payment.settle(person=person, outcome=Outcome.COMPLETED, now=NOW)
    change(campaign, RAISED)
    again = join(campaign, "A1")
    assert (again.pay, payment.code_of(again)) == (Decimal("2.00"), code)


@pytest.mark.parametrize(("shown", "taken"), [("0.59", True), ("0.60", True), ("0.61", False)])
def test_nobody_is_bound_to_less_than_their_page_showed(shown: str, taken: bool) -> None:
    campaign = make_campaign()
    change(campaign, CUT)
    joining: dict[str, Any] = {"campaign": campaign, "platform": "panel", "external_id": "A1"}
    joining |= {"language": "en", "now": NOW, "shown_pay": Decimal(shown)}
    if not taken:
        with pytest.raises(consents.PayChanged) as refusal:
            enrolment.join(**joining)
        assert refusal.value.notice == "pay_changed"
        assert not Participation.objects.exists()
        return
    person, secret = enrolment.join(**joining)
    assert person.pay == CUT
    with pytest.raises(consents.PayChanged):
        enrolment.join(**joining | {"shown_pay": Decimal("0.61")})
    person.refresh_from_db()
    assert person.secret_hash == access.secret_hash(secret)


def test_an_offer_and_a_promise_are_the_same_values() -> None:
    campaign = make_campaign()
    campaign.refresh_from_db()
    person = join(campaign)
    assert payment.promised(person) == payment.offered(campaign)
    assert asdict(payment.offered(campaign)).items() <= vars(person).items()


def test_staff_are_told_whom_a_change_does_not_bind() -> None:
    campaign = make_campaign()
    for _ in range(2):
        join(campaign)
    make_participation(campaign, state=P.ENDED, outcome=Outcome.COMPLETED)
    change(campaign, CUT)
    join(campaign)
    join(make_campaign())
    assert amendments.promises(campaign) == [
        amendments.Promised(Decimal("2.00"), 2),
        amendments.Promised(CUT, 1),
    ]
