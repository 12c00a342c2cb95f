"""Pay through the panel under lost answers, kills and bad webhooks (R21)."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import multiprocessing
import random
import signal
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
import time_machine
from django.db import connection, connections, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext

from tests.factories import NOW, make_campaign
from tests.webapp.services.recruiting.fake_panel import SECRET, FakePanel
from webapp.models import (
    Bonus,
    Campaign,
    CompletionCode,
    ExternalId,
    PanelBatch,
    PanelPayment,
    PanelStudy,
    Participation,
)
from webapp.services.recruiting import books, client, codes, paying, studies, submissions, turn
from webapp.services.rules import identity

Outcome, Kind = Participation.Outcome, CompletionCode.Kind
# outcome, the code's amount, a bonus
ENDS: tuple[tuple[str, str, str], ...] = (
    (Outcome.COMPLETED, "2.00", ""),
    (Outcome.COMPLETED, "2.00", "0.75"),
    (Outcome.COMPLETED, "4.00", ""),  # two conversations
    (Outcome.PARTNER_LEFT, "2.00", ""),
    (Outcome.FAILED, "2.00", ""),
    (Outcome.STOPPED, "2.00", ""),
    (Outcome.QUIT, "0.67", ""),
    (Outcome.NOBODY, "0.50", "0.10"),
    (Outcome.SCREENED_OUT, "0.30", ""),
    (Outcome.CHECK_FAILED, "0.45", ""),
    (Outcome.DECLINED, "", ""),
)


def made(campaign: Campaign, now: datetime = NOW, *, pays_parts: bool = False) -> PanelStudy:
    """Return a campaign's study that is to be created."""
    campaign.refresh_from_db()
    values: dict[str, Any] = {"title": "Chat", "description": "Chat and rate.", "minutes": 10}
    values |= {"reward": 200, "openings": 20, "screening_openings": 5, "pays_parts": pays_parts}
    link = "https://parley.example.org/c/x/"
    by = campaign.owner
    return studies.make(campaign=campaign, values=values, start_link=link, by=by, now=now)


def published(
    panel: FakePanel, campaign: Campaign, now: datetime = NOW, *, pays_parts: bool = False
) -> PanelStudy:
    """Return a campaign's study after it was created and published."""
    study = made(campaign, now, pays_parts=pays_parts)
    turn.turn(now)
    study.refresh_from_db()
    studies.change(study=study, action="PUBLISH", by=campaign.owner, now=now)
    turn.turn(now)
    study.refresh_from_db()
    return study


def end(campaign: Campaign, number: int, outcome: str, amount: str, extra: str) -> Participation:
    """Return somebody from the panel whose participation ended so."""
    name = f"person{number}"
    person = Participation.objects.create(
        campaign=campaign,
        pseudonym=identity.pseudonym(campaign, codes.PLATFORM, name),
        secret_hash=f"{number:064x}",
        state=Participation.State.ENDED,
        outcome=outcome,
        pay="2.00",
        waiting_pay="0.50",
        currency="USD",
        quit_rule=campaign.quit_rule,
        least_work=campaign.least_work,
        state_at=NOW,
        seen_at=NOW,
    )
    ExternalId.objects.create(participation=person, platform=codes.PLATFORM, value=name)
    if amount:
        CompletionCode.objects.create(
            participation=person, code=f"CODE-{number}", kind=Kind.FULL, amount=amount
        )
    if extra:
        Bonus.objects.create(
            participation=person, amount=extra, reason="more", given_by=campaign.owner
        )
    return person


@transaction.atomic  # as fast as one write
def finish(
    panel: FakePanel, study: PanelStudy, people: int, rng: random.Random, *, first: int = 0
) -> dict[str, int]:
    """Let people of all ends come and leave; return what each submission is owed, in cents."""
    owed: dict[str, int] = {}
    for number in range(first, first + people):
        outcome, amount, extra = ENDS[number % len(ENDS)]
        person = end(study.campaign, number, outcome, amount, extra)
        pk = panel.comes(study.study_id or "", f"person{number}")
        if rng.random() < 0.1:
            panel.becomes(pk, "TIMED-OUT")
        panel.enters(pk, codes.link_of(person).removeprefix(codes.COMPLETE))
        if rng.random() < 0.15:
            panel.becomes(pk, "RETURNED")  # before anybody approved
        owed[pk] = round((Decimal(amount or 0) + Decimal(extra or 0)) * 100)
    return owed


@transaction.atomic
def deliver(panel: FakePanel, rng: random.Random, now: datetime) -> tuple[int, int]:
    """Deliver the events lost, doubled and in any order; return how many of how many."""
    kept = [event for event in panel.events if rng.random() > 0.3]
    sent = [event for event in kept for _ in range(rng.choice((1, 1, 2, 3)))]
    rng.shuffle(sent)
    for event in sent:
        assert post(event, now) == 200
    total = len(panel.events)
    panel.events.clear()
    return len(kept), total


def post(event: dict[str, Any], now: datetime, secret: str = SECRET) -> int:
    body, timestamp = json.dumps(event).encode(), str(int(now.timestamp()))
    digest = hmac.digest(secret.encode(), timestamp.encode() + body, hashlib.sha256)
    headers = {
        "X-Prolific-Request-Signature": base64.b64encode(digest).decode(),
        "X-Prolific-Request-Timestamp": timestamp,
        "X-Event-ID": event["id"],
    }
    with time_machine.travel(now, tick=False):
        answer = Client().post(
            "/panel/events", body, content_type="application/json", headers=headers
        )
    return answer.status_code


def turn_elsewhere(panel: FakePanel, now: datetime, kill: str = "") -> int | None:
    """Take a turn in a process of its own, which the panel may kill; return its exit code."""
    if kill:
        panel.kills.append(kill)
    connections.close_all()
    client.hang_up()
    process = multiprocessing.get_context("fork").Process(target=_turn, args=(now,))
    process.start()
    panel.victim = process.pid or 0
    process.join()
    return process.exitcode


def _turn(now: datetime) -> None:
    turn.turn(now)
    connections.close_all()


CALLS = ("/submissions/bonus-payments", "/pay", "bulk-approve", "/submissions/?", "request-")
PART = "/transition"  # of a submission, which pays a percentage


def go_wrong(panel: FakePanel, rng: random.Random, calls: tuple[str, ...]) -> tuple[int, datetime]:
    """Take turns in which calls fail, answers are lost and processes die; return how many died."""
    killed, now = 0, NOW
    panel.faults = {"busy": 0.05, "broken": 0.05, "lost": 0.1}
    kills = [f"{when} {call}" for call in calls for when in ("kill-before", "kill-after")]
    for kill in [*kills, *kills]:
        now += timedelta(minutes=6)
        killed += turn_elsewhere(panel, now, kill) == -signal.SIGKILL
        deliver(panel, rng, now)
        if rng.random() < 0.5:
            panel.settle()
    panel.kills.clear()
    panel.faults = {}
    return killed, now


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    "people",  # it waits for the disk far more than it computes
    [
        pytest.param(110, marks=pytest.mark.timeout(400)),
        pytest.param(10_000, marks=[pytest.mark.slow, pytest.mark.timeout(3_000)]),
    ],
)
@pytest.mark.parametrize("pays_parts", [False, True])
def test_books_are_equal_to_the_cent_whatever_is_lost_doubled_or_killed(
    panel: FakePanel, people: int, pays_parts: bool
) -> None:
    rng = random.Random(3)
    study = published(panel, make_campaign(screening_pay="0.30"), pays_parts=pays_parts)
    owed = finish(panel, study, people, rng)
    kept, told = deliver(panel, rng, NOW)
    assert kept < told
    killed, now = go_wrong(panel, rng, (*CALLS[:-1], PART) if pays_parts else CALLS)
    assert killed >= 6
    for _ in range(12 + people // 100):  # at most 200 bonuses and approvals in a turn
        now += timedelta(minutes=20)
        panel.settle()
        turn_elsewhere(panel, now)
    doubled = [pk for pk, cents in owed.items() if panel.total(pk) > cents]
    unpaid = [pk for pk, cents in owed.items() if panel.total(pk) < cents]
    assert (doubled, unpaid) == ([], [])
    ends = {each["status"] for each in panel.submissions.values()}
    assert ("PARTIALLY APPROVED" in ends) is pays_parts
    _check_books(panel, study, owed)
    print(
        f"{people} submissions; {kept} of {told} first events arrived; {killed} processes killed;"
    )
    print(f"{len(panel.calls)} calls; {sum(owed.values()) / 100:.2f} owed and paid")


@pytest.mark.django_db
@pytest.mark.parametrize("pays_parts", [False, True])
def test_what_was_asked_for_is_not_looked_up_again_for_each_submission(
    panel: FakePanel, pays_parts: bool
) -> None:
    study = published(panel, make_campaign(screening_pay="0.30"), pays_parts=pays_parts)
    spent: list[int] = []
    for people in (len(ENDS), 3 * len(ENDS)):
        finish(panel, study, people, random.Random(3), first=study.submissions.count())
        submissions.read_due(NOW + timedelta(minutes=len(spent) * 10 + 10))
        study.submissions.update(return_requested=False)  # as of a code that asks nobody
        waiting = study.submissions.filter(status="AWAITING REVIEW").count()
        assert paying.intend(study, NOW) >= waiting // 2 > 0
        with CaptureQueriesContext(connection) as asked:
            assert paying.intend(study, NOW) == 0
        spent.append(len(asked))
    assert spent[0] == spent[1]
    assert set(study.calls.values_list("action", flat=True)) >= {
        "APPROVE",
        "PART" if pays_parts else "RETURN",
    }


def _check_books(panel: FakePanel, study: PanelStudy, owed: dict[str, int]) -> None:
    found = books.of(study)
    ours = {each.line.submission_id: each.line for each in found.lines}
    assert sorted(ours) == sorted(owed)
    for pk, line in ours.items():
        assert round((line.approved + line.bonus) * 100) == panel.total(pk), line
        assert line.difference == 0, line
    assert round(found.owed * 100) == sum(owed.values()) == sum(map(panel.total, owed))
    assert not PanelPayment.objects.filter(paid_at=None).exists()
    assert not PanelBatch.objects.exclude(stage="PAID").filter(payments__isnull=False).exists()
