"""Receipts of single acknowledgments: made without the database, checked by anybody (R39)."""

from __future__ import annotations

import json
from hashlib import sha256
from io import StringIO
from uuid import uuid4

import pytest
from django.conf import LazySettings
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.factories import make_campaign
from tests.webapp.services.people import after, send_message, start
from tests.webapp.views.visiting import good_answers, rating_visit
from webapp.models import Assignment, Event, Participation, Rating
from webapp.services.conversation import chat
from webapp.services.participation import privacy
from webapp.services.receipts import acknowledging, checking, files
from webapp.services.receipts.checking import ReceiptVerdict
from webapp.services.rules import access
from webapp.sockets import exchange, frames

pytestmark = pytest.mark.django_db
TEXT = "Hello there, älter friend 🙂"


def sent() -> tuple[Participation, Event, str]:
    """Return somebody who sent a message, its entry, and its receipt."""
    person = start(make_campaign(changes={"chat.minimum": [2]}, least_work=1))
    send_message(person, TEXT)
    event = Event.objects.get(kind="message", side=0)
    return person, event, acknowledging.of_event(event)


def verdict(receipt: str) -> ReceiptVerdict:
    return checking.check(receipt).verdict


def test_a_receipt_is_made_without_a_statement_and_says_what_was_stored() -> None:
    _, event, _ = sent()
    with CaptureQueriesContext(connection) as asked:
        receipt = acknowledging.of_event(event)
    assert len(asked) == 0
    found = checking.check(receipt)
    assert found.verdict == ReceiptVerdict.MATCHES
    right = json.dumps([str(event.client_id), TEXT], ensure_ascii=False, separators=(",", ":"))
    assert found.statement["digest"] == sha256(right.encode()).hexdigest(), "as the page says"
    assert (found.statement["kind"], found.statement["seq"]) == ("message", event.seq)


def test_a_repeat_of_an_item_gets_the_same_receipt() -> None:
    """R4, R39: of a receipt that was lost on the way nothing is lost."""
    person, event, receipt = sent()
    assert event.client_id is not None
    again = chat.send_message(person=person, client_id=event.client_id, text=TEXT, now=after(9))
    assert acknowledging.of_event(again) == receipt


def test_every_change_of_one_character_is_found() -> None:
    receipt = sent()[2]
    for place, letter in enumerate(receipt):
        for other in "A1-.":
            if other != letter:
                changed = f"{receipt[:place]}{other}{receipt[place + 1 :]}"
                assert verdict(changed) == ReceiptVerdict.FORGED, place
    for bad in ("PA1", "PA1.", "PA1.......", f"{receipt}.x", f"{receipt}A", "PA1.é", "PA1.\udc80"):
        assert verdict(bad) == ReceiptVerdict.FORGED
    superscript = ".".join(["PA1", "message", "²", *receipt.split(".")[3:]])
    assert verdict(superscript) == ReceiptVerdict.FORGED


def test_a_message_that_was_changed_or_lost_is_said_and_its_words_are_known_again() -> None:
    """What a database restored from before has lost is proven by who has receipt and words."""
    _, event, receipt = sent()
    Event.objects.filter(pk=event.pk).update(content={"text": "Other words"})
    assert verdict(receipt) == ReceiptVerdict.DIFFERS
    Event.objects.filter(pk=event.pk).update(content={"text": TEXT}, client_id=uuid4())
    assert verdict(receipt) == ReceiptVerdict.DIFFERS, "another item under its seq"
    Event.objects.filter(pk=event.pk).delete()
    assert verdict(receipt) == ReceiptVerdict.UNKNOWN
    for text, says in ((TEXT, "these words: are what"), ("Other", "these words: are not what")):
        said = StringIO()
        with pytest.raises(CommandError, match="does not have it"):
            call_command("verify", receipt, text=text, stdout=said)
        assert says in said.getvalue()


def test_former_keys_count_and_other_servers_do_not(settings: LazySettings) -> None:
    receipt, former = sent()[2], settings.SECRET_KEY
    settings.SECRET_KEY = "another server's key, long enough to be one 0123456789"
    assert verdict(receipt) == ReceiptVerdict.FORGED
    settings.SECRET_KEY_FALLBACKS = [former]
    assert verdict(receipt) == ReceiptVerdict.MATCHES


def test_a_withdrawal_deletes_the_words_and_the_receipt_stays_true() -> None:
    """G21, R39: the database has no hash of them; who has the receipt alone learns nothing."""
    person, _, receipt = sent()
    privacy.withdraw(token=privacy.withdraw_token(person), now=after(90))
    assert verdict(receipt) == ReceiptVerdict.DELETED
    person.refresh_from_db()
    assert [each for each in files.lines(person) if each.startswith("PA1")] == []


def test_a_receipt_has_no_word_and_no_number_of_a_row() -> None:
    _, event, receipt = sent()
    assert not {"Hello", str(event.pk), str(event.conversation_id)} & set(receipt.split(".")[4:])
    other = Event(
        conversation_id=event.conversation_id + 1,
        kind=event.kind,
        seq=event.seq,
        client_id=event.client_id,
        content=event.content,
        made_at=event.made_at,
    )
    places = [each.split(".")[6] for each in (receipt, acknowledging.of_event(other))]
    differing = [one != two for one, two in zip(*places, strict=True)]
    assert sum(differing) > 5, "masks of neighbors have nothing in common"


def test_the_answers_to_a_form_have_one() -> None:
    visit = rating_visit()
    visit.post("rate", good_answers(visit.get()))
    rated = Assignment.objects.get(state="DONE")
    receipt = acknowledging.of_assignment(rated)
    assert verdict(receipt) == ReceiptVerdict.MATCHES
    assert verdict(acknowledging.of_assignment(rated)) == ReceiptVerdict.MATCHES
    assert acknowledging.of_assignment(rated) != receipt, "answers are few: each has another salt"
    first = Rating.objects.order_by("pk").first()
    assert first is not None
    Rating.objects.filter(pk=first.pk).update(value="something else")
    assert verdict(receipt) == ReceiptVerdict.DIFFERS
    Rating.objects.all().delete()
    Participation.objects.update(withdrawn_at=after(90))
    assert verdict(receipt) == ReceiptVerdict.DELETED
    Assignment.objects.update(state="RELEASED")
    assert verdict(receipt) == ReceiptVerdict.UNKNOWN


def test_what_stores_no_entry_of_a_kind_has_none() -> None:
    assert acknowledging.of_event(Event(kind="state", seq=1, client_id=uuid4(), content={})) == ""
    finish = frames.Finish(id=uuid4())
    assert exchange.ack(finish, None) == {"type": "ack", "id": str(finish.id)}
    assert exchange.refusal(finish, access.NotFound())["type"] == "refused"
