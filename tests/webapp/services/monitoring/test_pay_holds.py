"""Payments that wait for a person: seen, let go or refused with a reason, told (R37)."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.test import Client
from django.urls import reverse

from tests.factories import NOW, make_campaign, make_staff
from tests.webapp.services.people import after, send_message, start
from webapp.models import AuditEntry, Campaign, CompletionCode, Participation, PayHold
from webapp.services.monitoring import monitor, pay_holds, pay_sheet
from webapp.services.ops import sweeper, verifying
from webapp.services.participation import privacy, screens, stopping
from webapp.services.receipts import checking, issuing
from webapp.services.rules import access, endings, flags, ledger, payment
from webapp.services.staff_forms.fields import Invalid

pytestmark = pytest.mark.django_db
REASON = "All of your messages were one letter, and they were asked to be sentences."


def quitter(campaign: Campaign, number: int) -> CompletionCode | None:
    """Return the code of somebody who says one word and stops."""
    person = start(campaign, f"quitter {number}", now=after(number))
    send_message(person, "x", now=after(number))
    stopping.stop(person=person, now=after(number))
    return payment.code_of(person)


def held(**terms: Any) -> tuple[Campaign, PayHold]:
    """Return a campaign, and a payment in it that waits."""
    campaign = make_campaign(target=20, hold_payments=True, **terms)
    person = start(campaign, "ann")
    Participation.objects.filter(pk=person.pk).update(state="RATING")
    code = payment.settle(person=person, outcome="COMPLETED", now=NOW)
    assert code is not None
    assert endings.hold(code, endings.FLAGS, NOW)
    assert not endings.hold(code, "quit", NOW), "one a code"
    return campaign, PayHold.objects.get()


def page(person: Participation) -> str:
    end = screens.show(person=person, now=NOW).end
    assert end is not None
    return end.held


def test_at_unusual_rates_the_payments_of_who_did_so_wait_and_their_codes_are_given() -> None:
    campaign = make_campaign(target=20, hold_payments=True, quit_rule="FULL", least_work=1)
    codes = [quitter(campaign, number) for number in range(12)]
    assert all(codes), "a code is always given"
    waiting = PayHold.objects.order_by("pk")
    assert [hold.code_id for hold in waiting] == [code.pk for code in codes[9:] if code]
    assert {hold.because for hold in waiting} == {"quit"}
    assert {hold.until - hold.held_at for hold in waiting} == {timedelta(days=3)}
    person = start(campaign, "honest", now=after(20))
    Participation.objects.filter(pk=person.pk).update(state="RATING")
    payment.settle(person=person, outcome="COMPLETED", now=after(30))
    assert PayHold.objects.count() == 3, "who did the work does not wait for others' sake"
    assert "holds" in {alarm.name for alarm in monitor.alarms(campaign, after(30))}
    assert list(verifying.findings(after(30))) == []


def test_where_nobody_asked_for_it_nothing_waits() -> None:
    campaign = make_campaign(target=20, quit_rule="FULL", least_work=1)
    assert all(quitter(campaign, number) for number in range(12))
    assert not PayHold.objects.exists()


def test_flags_let_a_payment_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    campaign, hold = held()
    PayHold.objects.all().delete()
    person = hold.code.participation
    person.campaign = campaign
    flags.review(person=person, now=NOW)
    assert not PayHold.objects.exists(), "nothing was odd"
    monkeypatch.setattr(flags, "_straight_lined", lambda _: ["5 answers 3 within 0.1 s"])
    flags.review(person=person, now=NOW)
    assert PayHold.objects.get().because == "flags"


def test_who_waits_is_told_until_when_and_a_payer_lets_it_go() -> None:
    campaign, hold = held()
    person = hold.code.participation
    assert "before it is made, by Jan" in page(person)
    token = privacy.withdraw_token(person)
    assert screens.leaving(token=token, slug=campaign.slug).held == page(person)
    assert [each.amount for each in pay_holds.listed(campaign)] == [Decimal("2.00")]
    line = next(pay_sheet.taken(campaign=campaign, by="ann", now=NOW))
    assert (line.amount, line.status) == (Decimal("2.00"), "held until somebody has looked")
    pay_holds.release(campaign=campaign, pk=hold.pk, by=make_staff(), now=NOW)
    assert page(person) == ""
    assert pay_holds.listed(campaign) == []
    with pytest.raises(pay_holds.AlreadyDecided):
        pay_holds.refuse(
            campaign=campaign, pk=hold.pk, by=make_staff("bob"), reason=REASON, now=NOW
        )
    assert AuditEntry.objects.filter(action="payment let go").count() == 1


def test_a_refusal_takes_the_money_back_and_leaves_code_and_receipt() -> None:
    campaign, hold = held()
    person = hold.code.participation
    assert ledger.books(campaign).spent == Decimal("2.00")
    pay_holds.refuse(campaign=campaign, pk=hold.pk, by=make_staff(), reason=REASON, now=NOW)
    assert ledger.books(campaign).spent == ledger.owed_to(campaign.participations.all()).total == 0
    assert pay_sheet.sums(campaign).agrees
    assert list(verifying.findings(NOW)) == []
    assert payment.code_of(person) == hold.code
    assert checking.check(issuing.latest(person)).is_valid
    assert REASON in page(person)
    assert campaign.contact in page(person)
    line = next(pay_sheet.taken(campaign=campaign, by="ann", now=NOW))
    assert (line.amount, line.status) == (Decimal(0), "refused")
    entry = AuditEntry.objects.get(action="payment refused")
    assert entry.detail["reason"] == REASON


def test_nothing_but_a_person_with_a_reason_refuses() -> None:
    _, hold = held()
    with pytest.raises(IntegrityError), transaction.atomic():
        PayHold.objects.update(refused=True, decided_at=NOW)
    with pytest.raises(IntegrityError), transaction.atomic():
        PayHold.objects.update(refused=True, decided_by=make_staff(), reason=REASON)
    for reason in ("", "too short", "x" * 301, "with a \0 in it, which nothing stores"):
        with pytest.raises(Invalid):
            pay_holds.read_reason(reason)
    assert pay_holds.read_reason(f"  {REASON}\n") == REASON
    with pytest.raises(access.NotFound):
        pay_holds.release(campaign=make_campaign(), pk=hold.pk, by=make_staff("bob"), now=NOW)


def test_what_nobody_decides_in_time_is_let_go_once() -> None:
    campaign, hold = held()
    assert sweeper.tick(hold.until - timedelta(seconds=1))["let_go"] == 0
    assert sweeper.tick(hold.until)["let_go"] == 1
    assert sweeper.tick(hold.until)["let_go"] == 0
    hold.refresh_from_db()
    assert (hold.refused, hold.decided_by) == (False, None)
    assert ledger.books(campaign).spent == Decimal("2.00")


def test_a_payer_decides_on_the_pay_sheet(client: Client) -> None:
    campaign, hold = held()
    client.force_login(campaign.owner)
    sheet = client.get(reverse("pay-sheet", args=[campaign.pk])).content.decode()
    assert "has flags" in sheet
    address = reverse("pay-hold", args=[campaign.pk, hold.pk])
    again = client.post(address, {"decision": "refuse", "reason": "short"})
    assert again.status_code == 422
    assert "the participant reads it" in again.content.decode()
    assert client.post(address, {"decision": "refuse", "reason": REASON}).status_code == 302
    hold.refresh_from_db()
    assert (hold.refused, hold.reason) == (True, REASON)
    told = client.post(address, {"decision": "release"}, follow=True).content.decode()
    assert "It was decided meanwhile." in told
