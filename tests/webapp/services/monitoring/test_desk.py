"""The staff desk: a planted log through the bot, its figures, decisions made once, the files."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from datetime import timedelta
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from bots.zoo.faq import DEFERRED
from tests import serving
from tests.factories import NOW, make_campaign, make_staff
from tests.webapp.services.people import after, send_message, start
from webapp import inference
from webapp.models import AuditEntry, Campaign, ReplyJob, ReviewedAnswer
from webapp.services.data import exports, reviewed_answers
from webapp.services.monitoring import desk
from webapp.services.participation import privacy
from webapp.services.replies import delivery
from webapp.services.rules import access
from webapp.services.staff_forms.fields import Invalid

pytestmark = pytest.mark.django_db
PRICE, BROKEN, REFUND = (
    "How much does it cost for an hour?",
    "the tire is flat, the bike is broken",
    "Can I get a refund of my money?",
)
UNKNOWN = "Zorblax quuxly vanting"
ASKED = (PRICE, BROKEN, REFUND, UNKNOWN)


@pytest.fixture
def ann() -> User:
    staff: User = make_staff("ann")
    return staff


@pytest.fixture
def campaign(ann: User) -> Campaign:
    """A campaign in which four people asked the bot; one of them two days after the others."""
    row = make_campaign(systems={"desk": "faq"}, target=9, changes={"chat.pace": 0.0}, owner=ann)
    for number, question in enumerate(ASKED):
        person = start(row, f"person {number}", now=NOW)
        send_message(person, question, now=after(1))
    serving.serve(bot="faq", owner="test", respond=inference.respond_here)
    delivery.deliver_due()
    assert set(ReplyJob.objects.values_list("state", flat=True)) == {"DONE"}
    ReplyJob.objects.update(answered_at=NOW)
    ReplyJob.objects.filter(pk=job(row, REFUND)).update(answered_at=NOW + timedelta(days=2))
    return row


def job(campaign: Campaign, question: str) -> int:
    """Return the number of the job that answered a question."""
    (found,) = (
        each.pk
        for each in ReplyJob.objects.filter(conversation__campaign=campaign)
        if each.conversation.events.get(seq=each.in_reply_to).content["text"] == question
    )
    return found


def decide(campaign: Campaign, ann: User, question: str, intent: str | None) -> None:
    raw = {"decision": "correct", "intent": intent or ""}
    if not intent:
        raw = {"decision": "confirm" if intent is None else "none"}
    desk.decide(campaign=campaign, pk=job(campaign, question), raw=raw, by=ann, now=NOW)


def test_below_the_threshold_a_question_is_left_to_people_and_stands_first(
    campaign: Campaign,
) -> None:
    first, *others = desk.waiting(campaign, {}).object_list
    assert (first.question, first.answer, first.deferred) == (UNKNOWN, DEFERRED, True)
    assert first.confidence is not None
    assert first.confidence < 0.5
    assert [each.question for each in others] == [PRICE, BROKEN, REFUND]
    assert [each.guess for each in others] == ["price", "broken", "refund"]
    assert all(each.confidence is not None and each.confidence >= 0.5 for each in others)
    assert desk.is_used(campaign)
    assert not desk.is_used(make_campaign())


def test_two_of_three_confirmed_are_66_7_percent_and_each_day_has_its_rate(
    campaign: Campaign, ann: User
) -> None:
    decide(campaign, ann, PRICE, None)
    decide(campaign, ann, REFUND, "refund")
    decide(campaign, ann, BROKEN, "unlock")
    decide(campaign, ann, UNKNOWN, "price")
    later, earlier = desk.days(campaign)
    assert (later.day, later.questions, later.automation_percent) == (
        NOW.date() + timedelta(days=2),
        1,
        "100.0 %",
    )
    assert (earlier.questions, earlier.deferred, earlier.automation_percent) == (3, 1, "66.7 %")
    assert (earlier.reviewed, earlier.confirmed, earlier.confirmed_percent) == (2, 1, "50.0 %")
    whole = desk.total([later, earlier])
    assert (whole.automation_percent, whole.confirmed_percent) == ("75.0 %", "66.7 %")
    assert desk.waiting(campaign, {}).paginator.count == 0
    assert desk.total([]).confirmed_percent == "—"


def test_each_answer_is_decided_once_by_whom_and_when(campaign: Campaign, ann: User) -> None:
    decide(campaign, ann, PRICE, None)
    with pytest.raises(desk.AlreadyReviewed):
        decide(campaign, make_staff("bob"), PRICE, "unlock")
    row = ReviewedAnswer.objects.get()
    assert (row.guess, row.intent, row.decided_by, row.decided_at) == ("price", "price", ann, NOW)
    entry = AuditEntry.objects.latest("pk")
    assert (entry.actor, entry.action) == ("ann", "answer confirmed")
    with pytest.raises(Invalid):  # there was no answer
        decide(campaign, ann, UNKNOWN, None)
    with pytest.raises(access.NotFound):
        desk.decide(campaign=make_campaign(), pk=row.job_id, raw={}, by=ann, now=NOW)


def test_the_three_most_confused_pairs_lead_either_way_and_their_answers_come_next(
    campaign: Campaign, ann: User
) -> None:
    decide(campaign, ann, BROKEN, "refund")
    found = [(pair.one, pair.other, pair.times) for pair in desk.confused(campaign)]
    assert found == [("broken", "refund", 1)]
    waiting = [each.question for each in desk.waiting(campaign, {}).object_list]
    assert waiting == [UNKNOWN, REFUND, PRICE], "one of a confused pair before the others"
    decide(campaign, ann, REFUND, "broken")
    assert [pair.times for pair in desk.confused(campaign)] == [2]
    decide(campaign, ann, PRICE, "")
    decide(campaign, ann, UNKNOWN, "unlock")
    assert len(desk.confused(campaign)) == 1, "neither none nor what the bot left to people"
    row = ReviewedAnswer.objects.get(job=job(campaign, PRICE))
    for number, pair in enumerate((("a", "b"), ("c", "d"), ("e", "f"))):
        ReviewedAnswer.objects.filter(pk=row.pk - number).update(guess=pair[0], intent=pair[1])
    ReviewedAnswer.objects.update(deferred=False)
    assert len(desk.confused(campaign)) == 3, "of four pairs"


@pytest.mark.parametrize(
    ("raw", "field"),
    [
        ({"decision": "correct", "intent": "  "}, "intent"),
        ({"decision": "correct", "intent": "x" * 201}, "intent"),
        ({"decision": "maybe"}, "decision"),
        ({}, "decision"),
    ],
)
def test_a_decision_that_cannot_be_read_is_named(raw: dict[str, str], field: str) -> None:
    with pytest.raises(Invalid) as found:
        desk.read_decision(raw)
    assert set(found.value.problems) == {field}
    assert desk.read_decision({"decision": "correct", "intent": "x" * 200}) == "x" * 200
    assert desk.read_decision({"decision": "none"}) == ""
    assert desk.read_decision({"decision": "confirm"}) is None


def test_the_file_holds_what_people_know_and_the_bot_learns_from_it(
    campaign: Campaign, ann: User, tmp_path: Path
) -> None:
    from bots.zoo.faq import BOT

    decide(campaign, ann, UNKNOWN, "refund")
    decide(campaign, ann, PRICE, None)
    decide(campaign, ann, BROKEN, "")
    text = reviewed_answers.taken(campaign=campaign, by=ann, now=NOW)
    assert [json.loads(line) for line in text.splitlines()] == [
        {"text": PRICE, "label": "price"},
        {"text": UNKNOWN, "label": "refund"},
    ]
    (tmp_path / "labeled.jsonl").write_text(text)
    assert BOT(labeled=str(tmp_path / "labeled.jsonl")).classify(UNKNOWN)[0] == "refund"


def test_the_export_has_them_and_a_withdrawal_takes_the_words(
    campaign: Campaign, ann: User, tmp_path: Path
) -> None:
    assert rows(campaign, tmp_path) == []
    decide(campaign, ann, UNKNOWN, "refund")
    decide(campaign, ann, BROKEN, None)
    first, second = rows(campaign, tmp_path)
    assert (first["question"], first["guess"], first["intent"], first["deferred"]) == (
        BROKEN,
        "broken",
        "broken",
        "0",
    )
    assert (second["intent"], second["deferred"]) == ("refund", "1")
    seat = ReplyJob.objects.get(pk=job(campaign, UNKNOWN)).conversation.seats.get(side=0)
    assert seat.participation is not None
    privacy.withdraw(token=privacy.withdraw_token(seat.participation), now=after(9))
    assert [row["question"] for row in rows(campaign, tmp_path)] == [BROKEN, ""]
    assert [line["text"] for line in reviewed_answers.labeled(campaign)] == [BROKEN]


def archive(campaign: Campaign, folder: Path) -> zipfile.ZipFile:
    return zipfile.ZipFile(exports.write_to(campaign=campaign, path=folder / "export.zip"))


def rows(campaign: Campaign, folder: Path) -> list[dict[str, str]]:
    text = archive(campaign, folder).read("reviewed_answers.csv").decode()
    return list(csv.DictReader(io.StringIO(text, newline="")))


def test_staff_decide_on_the_page(campaign: Campaign, ann: User, client: Client) -> None:
    client.force_login(ann)
    address = reverse("desk", args=[campaign.pk])
    assert address in client.get(reverse("conversations", args=[campaign.pk])).content.decode()
    decision = reverse("decide-answer", args=[campaign.pk, job(campaign, BROKEN)])
    refused = client.post(decision, {"decision": "correct", "intent": "x" * 201})
    assert refused.status_code == 422
    assert "Intent: “xxx" in refused.content.decode()
    assert "x" * 201 in refused.content.decode(), "what was typed stays"
    assert client.post(decision, {"decision": "correct", "intent": "refund"}).status_code == 302
    again = client.post(decision, {"decision": "confirm"}, follow=True)
    assert "Somebody else looked at it meanwhile." in again.content.decode()
    page = client.get(address).content.decode()
    assert "3 answers to look at" in page
    assert "<strong>broken</strong> · <strong>refund</strong>: 1 time" in page
    assert ReviewedAnswer.objects.get().intent == "refund"
