"""The pay sheet: everybody with id, code and money, found by either, equal to the ledger (R37)."""

from __future__ import annotations

import csv
import io
import json
import re
import zipfile
from decimal import Decimal
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from tests.factories import NOW, make_campaign, make_member, make_staff
from tests.webapp.services.people import after, join, start
from tests.webapp.views.visiting import good_answers, rating_visit, text_of
from webapp.models import AuditEntry, Campaign, CompletionCode, Participation
from webapp.services.accounts import sessions
from webapp.services.monitoring import audit_log, pay_sheet, review
from webapp.services.participation import privacy, stopping
from webapp.services.rules import ledger, payment

pytestmark = pytest.mark.django_db


@pytest.fixture
def paid() -> Campaign:
    """A campaign whose people finished, declined, got a bonus, withdrew, or are at work."""
    campaign = make_campaign(pay="1.10", waiting_pay="0.05", changes={"chat.minimum": [2]})
    for number in range(3):
        complete(start(campaign, f"person{number}"))
    first, _, third = campaign.participations.order_by("pk")
    for amount in ("0.10", "0.20"):
        payment.bonus(
            person=first, amount=Decimal(amount), reason="Thorough.", by=make_staff(), now=NOW
        )
    privacy.withdraw(token=privacy.withdraw_token(third), now=after(90))
    stopping.stop(person=start(campaign, "early"), now=after(9))
    start(campaign, "working")
    join(campaign, "reading")
    return campaign


def complete(person: Participation) -> None:
    Participation.objects.filter(pk=person.pk).update(state="RATING")
    payment.settle(person=person, outcome="COMPLETED", now=NOW)


def shown(client: Client, campaign: Campaign, **raw: str) -> list[pay_sheet.PayLine]:
    answer = client.post(reverse("pay-sheet", args=[campaign.pk]), raw)
    assert answer.status_code == 200
    found: list[pay_sheet.PayLine] = list(answer.context["page"].object_list)
    return found


def file(client: Client, campaign: Campaign) -> list[dict[str, str]]:
    answer = client.post(reverse("pay-sheet-file", args=[campaign.pk]))
    return list(csv.DictReader(io.StringIO(answer.content.decode(), newline="")))


def total(rows: list[dict[str, str]], name: str) -> Decimal:
    return sum((Decimal(row[name]) for row in rows), Decimal(0))


def exported(client: Client, campaign: Campaign) -> dict[str, str]:
    """Return the sums of money in the manifest of the export."""
    content = client.post(reverse("results-export", args=[campaign.pk])).getvalue()
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        found: dict[str, str] = json.loads(archive.read("manifest.json"))["money"]
    return found


def test_sums_of_page_file_lists_live_page_export_and_ledger_are_equal_to_the_cent(
    ann: Client, paid: Campaign
) -> None:
    visit = rating_visit(paid)
    visit.post("rate", good_answers(visit.get()))
    lines, rows = shown(ann, paid), file(ann, paid)
    assert sorted(map(str, lines[0].cells())) == sorted(rows[-1].values()), "the same rows"
    assert [line.pseudonym for line in reversed(lines)] == [row["pseudonym"] for row in rows]
    spent = ledger.books(paid).spent
    assert spent == Decimal("4.70"), "four codes of 1.10, bonuses of 0.30"
    assert sum(line.total for line in lines) == spent
    assert (total(rows, "amount"), total(rows, "bonus")) == (Decimal("4.40"), Decimal("0.30"))
    assert total(rows, "total") == spent
    assert review.paid(paid, {"step": "paid"}) == review.paid(paid, {}) == spent
    assert exported(ann, paid)["spent"] == str(spent)
    assert re.search(r">4\.70</span>", text_of(ann, "live-part", paid.pk))
    page = text_of(ann, "pay-sheet", paid.pk)
    assert re.search(r'id="owed-total">4\.70<', page)
    assert re.search(rf'All</th>\s*<td class="num">{len(lines)}</td>', page)
    assert "agrees" in page
    assert "early" not in page, "no id before anybody says who they are"


def test_somebody_is_found_by_id_and_by_code_and_each_look_is_logged_without_them(
    ann: Client, paid: Campaign
) -> None:
    (early,) = shown(ann, paid, search="early")
    assert (early.id, early.outcome, early.total) == (
        "early",
        "declined before any work",
        Decimal(0),
    )
    assert early.status == "nothing owed"
    code = CompletionCode.objects.earliest("pk")
    (found,) = shown(ann, paid, search=f" {code.code.lower()} ")
    assert (found.pk, found.code, found.status) == (
        code.participation_id,
        code.code,
        "to be paid",
    )
    assert shown(ann, paid, search="nobody") == []
    assert shown(ann, paid, search="\0") == []
    searched = list(AuditEntry.objects.filter(action="pay sheet searched").order_by("number"))
    assert [row.detail["people"] for row in searched] == [[early.pk], [found.pk], [], []]
    assert [row.actor for row in searched] == ["ann"] * 4
    shown(ann, paid)
    file(ann, paid)
    logged = AuditEntry.objects.order_by("-number")[:2]
    words = [audit_log.sentence(row.action, row.detail) for row in logged]
    assert words == [
        "took the pay sheet as a file, with ids: 6 rows",
        "looked at the pay sheet, with ids: 6 of its rows",
    ]
    every = json.dumps([row.detail for row in AuditEntry.objects.all()])
    assert "early" not in every, "an id stands in one table only"


def test_who_withdrew_is_paid_and_has_no_id_any_more(ann: Client, paid: Campaign) -> None:
    gone = Participation.objects.get(campaign=paid, withdrawn_at__isnull=False)
    (line,) = [each for each in shown(ann, paid) if each.pk == gone.pk]
    assert (line.id, line.amount, line.status) == ("", Decimal("1.10"), "to be paid; withdrew")


def test_only_a_payer_who_has_just_proven_who_they_are_reads_ids(paid: Campaign) -> None:
    address = reverse("pay-sheet", args=[paid.pk])
    for role in ("viewer", "runner", "exporter"):
        client = Client()
        client.force_login(make_member(role, role, project=paid.project))
        assert client.get(address).status_code == client.post(address).status_code == 403
        assert 'id="pay-sheet"' not in text_of(client, "live-part", paid.pk)
    payer = Client()
    payer.force_login(make_member("payer", "payer", project=paid.project))
    assert 'id="pay-sheet"' in text_of(payer, "live-part", paid.pk)
    session: Any = payer.session
    session[sessions.PROVED] = NOW.isoformat()
    session.save()
    before = AuditEntry.objects.count()
    answer = payer.post(address, {"search": "early"})
    assert (answer.status_code, b"Confirm" in answer.content) == (403, True)
    assert AuditEntry.objects.count() == before
    assert payer.post(address, {"search": "early", "proof-password": "payer"}).status_code == 200


def test_a_ledger_that_differs_from_codes_is_said_to(ann: Client, paid: Campaign) -> None:
    CompletionCode.objects.filter(participation__campaign=paid).earliest("pk").delete()
    assert "differs" in text_of(ann, "pay-sheet", paid.pk)


def test_the_number_of_queries_does_not_grow_with_the_people(paid: Campaign) -> None:
    def look() -> None:
        pay_sheet.look(campaign=paid, search="", page="1", by="ann", now=NOW)

    with CaptureQueriesContext(connection) as few:
        look()
    for number in range(20):
        join(paid, f"more{number}")
    with CaptureQueriesContext(connection) as many:
        look()
    assert len(few) == len(many)
