"""Receipts: signed, chained, compared with the database by anybody, and naming nobody (R39)."""

from __future__ import annotations

import base64
import json
from io import StringIO

import pytest
from django.conf import LazySettings
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from tests.factories import make_campaign
from tests.webapp.services.people import after, conversation_of, join, send_message, start
from tests.webapp.views.visiting import good_answers, rating_visit
from webapp.models import CompletionCode, Event, ExternalId, Participation, Rating, Receipt
from webapp.services.participation import privacy, stopping
from webapp.services.receipts import checking, issuing
from webapp.services.receipts.checking import ReceiptVerdict
from webapp.services.rules import payment

pytestmark = pytest.mark.django_db


def ended(text: str = "Hello there friend") -> Participation:
    """Return somebody who sent a message and stopped."""
    person = start(make_campaign(changes={"chat.minimum": [2]}, least_work=1))
    send_message(person, text)
    stopping.stop(person=person, now=after(60))
    return Participation.objects.get(pk=person.pk)


def verify(receipt: str = "") -> str:
    said = StringIO()
    call_command("verify", *([receipt] if receipt else []), stdout=said)
    return said.getvalue()


def posted(receipt: str) -> str:
    """Return the verdict of the public page."""
    (found,) = Client().post(reverse("receipts"), {"receipt": receipt}).context["found"]
    return str(found.verdict)


def test_the_end_page_hands_out_a_receipt_that_anybody_can_check() -> None:
    visit = rating_visit()
    end = visit.post("rate", good_answers(visit.get())).content.decode()
    file = visit.get("receipt")
    assert file.headers["Content-Disposition"] == 'attachment; filename="receipt.txt"'
    receipt, *items, _ = file.content.decode().split()
    assert receipt in end
    assert [each.split(".")[1] for each in items] == ["message", "rating"]
    page = Client().post(reverse("receipts"), {"receipt": f" {receipt[:60]}\r\n{receipt[60:]} "})
    assert [each.verdict for each in page.context["found"]] == [ReceiptVerdict.MATCHES]
    every = Client().post(reverse("receipts"), {"receipt": file.content.decode()})
    assert [each.verdict for each in every.context["found"]] == [
        *[ReceiptVerdict.MATCHES] * 3,
        ReceiptVerdict.SIGNED,
    ]
    assert "2.00 USD" in page.content.decode()
    stated = page.context["found"][0].statement
    assert (stated["messages"], stated["answers"]) == (1, Rating.objects.count())
    assert verify(receipt).startswith("valid")
    assert Client().get(reverse("receipts")).context["found"] == []
    assert Client().get(f"/c/{visit.campaign.slug}/receipt").status_code == 404, "no cookie"


def test_whoever_sent_something_has_one_and_who_did_nothing_has_none() -> None:
    person = ended()
    assert checking.check(issuing.latest(person)).is_valid
    idle = start(person.campaign)
    stopping.stop(person=idle, now=after(60))
    assert issuing.latest(idle) == ""


def test_every_change_of_one_character_is_found() -> None:
    receipt = issuing.latest(ended())
    for place, letter in enumerate(receipt):
        for other in "AB-.":
            if other != letter:
                changed = f"{receipt[:place]}{other}{receipt[place + 1 :]}"
                assert checking.check(changed).verdict == ReceiptVerdict.FORGED, place
    last = [f"{receipt[:-1]}{other}" for other in "ABCDEFGHIJKLMNOPQRSTUVWXYZ012345678-_"]
    valid = [each for each in last if checking.check(each).verdict != ReceiptVerdict.FORGED]
    assert valid in ([], [receipt]), "other spellings of the same bytes are none"
    for bad in ("PR1", "PR1..", "é", "\udc80", "PR1." + "A" * 5_000, f"{receipt}.x"):
        assert checking.check(bad).verdict == ReceiptVerdict.FORGED


def test_another_servers_key_is_refused_and_a_former_key_is_not(settings: LazySettings) -> None:
    receipt = issuing.latest(ended())
    former = settings.SECRET_KEY
    settings.SECRET_KEY = "another server's key, long enough to be one 0123456789"
    assert posted(receipt) == ReceiptVerdict.FORGED
    with pytest.raises(CommandError, match="not valid"):
        verify(receipt)
    settings.SECRET_KEY_FALLBACKS = [former]
    assert posted(receipt) == ReceiptVerdict.MATCHES


def test_what_the_database_has_changed_or_lost_is_said() -> None:
    person = ended()
    receipt = issuing.latest(person)
    Event.objects.filter(kind="message", side=0).update(content={"text": "Other words"})
    assert posted(receipt) == ReceiptVerdict.DIFFERS
    Receipt.objects.all().delete()
    assert posted(receipt) == ReceiptVerdict.UNKNOWN
    with pytest.raises(CommandError, match="does not have it"):
        verify(receipt)


def test_a_changed_amount_is_said() -> None:
    receipt = issuing.latest(ended())
    assert CompletionCode.objects.update(amount="9.00") == 1
    assert posted(receipt) == ReceiptVerdict.DIFFERS


def test_a_withdrawal_deletes_what_the_hash_could_be_compared_with() -> None:
    person = ended()
    receipt = issuing.latest(person)
    privacy.withdraw(token=privacy.withdraw_token(person), now=after(90))
    assert Receipt.objects.get().salt == ""
    assert posted(receipt) == ReceiptVerdict.DELETED
    assert issuing.latest(person) == receipt
    assert list(checking.faults()) == []


def test_a_receipt_names_nobody_and_has_no_word() -> None:
    person = ended("My name is Ada Lovelace")
    content = issuing.latest(person).split(".")[1]
    stated = base64.urlsafe_b64decode(content + "==").decode()
    known = ExternalId.objects.get(participation=person).value
    code = payment.code_of(person)
    assert code is not None
    for secret in (known, person.pseudonym, "Ada", code.code, privacy.withdraw_token(person)):
        assert secret not in stated
    about = {"campaign", "participation", "number", "at", "pay", "currency", "previous"}
    assert set(json.loads(stated)) == about | {"messages", "answers", "texts", "digest"}


def test_who_comes_back_after_an_end_without_pay_gets_the_next_of_the_chain() -> None:
    person = start(make_campaign(changes={"chat.minimum": [2]}), "ann")
    send_message(person, "Hello there")
    payment.settle(person=person, outcome="LEFT", now=after(60))
    first = issuing.latest(person)
    again = join(person.campaign, "ann", after(90))
    assert again.pk == person.pk
    Participation.objects.filter(pk=person.pk).update(state="RATING", outcome="")
    person.refresh_from_db()
    payment.settle(person=person, outcome="COMPLETED", now=after(120))
    second = Receipt.objects.get(number=2)
    assert second.previous == Receipt.objects.get(number=1).digest
    assert [posted(each) for each in (first, issuing.token(second))] == [ReceiptVerdict.MATCHES] * 2
    assert (second.messages, conversation_of(person).messages_0) == (1, 1)
    assert second.made_at == after(120)
