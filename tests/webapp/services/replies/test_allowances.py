"""Tokens of one's own models: reserved before a call, settled after it, and a stop that is paid."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from decimal import Decimal
from typing import Any
from uuid import uuid4

import pytest
from django.db import IntegrityError, connection, transaction
from django.test import Client

from bots import Reply
from tests import serving
from tests.bots.chat_completions import Fake, running
from tests.factories import NOW, make_campaign, make_participation, make_staff
from webapp import inference
from webapp.models import (
    Allowance,
    AuditEntry,
    Campaign,
    Conversation,
    Flag,
    Participation,
    ReplyCall,
    ReplyJob,
)
from webapp.services.conversation import chat, opening, updates
from webapp.services.replies import allowances, queue, worker
from webapp.services.replies.worker import ReplyWork
from webapp.services.rules import events

OF_A_REPLY = 14  # tokens that the server reports of each
J = ReplyJob.State


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Iterator[Fake]:
    with running() as fake:
        monkeypatch.setenv("BOT_PRIVATE_HOSTS", f"127.0.0.1:{fake.port}")
        yield fake


def campaign_of(fake: Fake, *, people: int = 1, **limits: Any) -> Campaign:
    campaign = make_campaign(systems={"llm": "chat_server"}, changes={"chat.pace": 0.0}, **limits)
    options = {"url": fake.url, "model": "good", "max_tokens": 20, "tries": 1}
    options |= {"prompt_price": 1000.0, "reply_price": 10_000.0}
    campaign.systems.update(options=options)
    for _ in range(people):
        person = make_participation(campaign)
        opening.open_with_bot(person=person, system=campaign.systems.get(), now=NOW)
    return campaign


def send(campaign: Campaign) -> None:
    for person in campaign.participations.exclude(state="ENDED"):
        chat.send_message(person=person, client_id=uuid4(), text="Hello you.", now=NOW)


def answer() -> None:
    serving.serve(bot="chat_server", owner="test", respond=inference.respond_here)


def held(campaign: Campaign, *, conversation: Conversation | None = None) -> Allowance:
    return campaign.allowances.get(conversation=conversation, unit="tokens")


@pytest.mark.django_db
def test_what_the_server_reports_is_counted_for_both(fake: Fake) -> None:
    campaign = campaign_of(fake, tokens=5000, conversation_tokens=4000, token_cost=Decimal(1))
    for turn in (1, 2):
        send(campaign)
        answer()
        for row in campaign.allowances.filter(unit="tokens"):
            assert (row.used, row.reserved, row.beyond) == (OF_A_REPLY * turn, 0, 0)
    assert campaign.allowances.get(unit="cost").used == 2 * (9 * 1000 + 5 * 10_000)
    tokens, cost = allowances.books(campaign)
    assert (tokens.used, tokens.most, cost.used) == (Decimal(28), Decimal(5000), Decimal("0.118"))


@pytest.mark.django_db
def test_a_conversation_without_tokens_ends_paid_and_others_go_on(fake: Fake) -> None:
    campaign = campaign_of(fake, people=2)
    rich, poor = campaign.conversations.order_by("pk")
    send(campaign)
    estimate = _estimate(campaign)
    Campaign.objects.filter(pk=campaign.pk).update(conversation_tokens=estimate)
    answer()  # n: exactly what one reply reserves
    assert [job.state for job in ReplyJob.objects.all()] == [J.DONE, J.DONE]
    Allowance.objects.filter(conversation=rich).update(most=10 * estimate)
    send(campaign)
    answer()
    person = Participation.objects.get(seats__conversation=poor)
    poor.refresh_from_db()
    assert (poor.state, poor.ended_because) == ("FAILED", "no_tokens")
    assert (person.outcome, person.code.kind, person.code.amount) == ("FAILED", "FULL", person.pay)
    assert Flag.objects.get().kind == "no_tokens"
    rich.refresh_from_db()
    campaign.refresh_from_db()
    assert (rich.state, campaign.state) == ("OPEN", "OPEN")
    assert len(fake.asked) == 3
    other = Participation.objects.get(seats__conversation=rich)
    assert updates.status(person=other, now=NOW)["failed"] is False


def _estimate(campaign: Campaign) -> int:
    """Return what the reply that is owed would reserve."""
    return next(iter(_estimates(campaign).values()))


def _estimates(campaign: Campaign) -> dict[int, int]:
    """Return what each reply that is owed would reserve: a longer persona takes more."""
    jobs = ReplyJob.objects.select_related("conversation__system", "conversation__campaign")
    turns, options = worker._turns(list(jobs)), campaign.systems.get().options
    return {
        job: allowances._prompt_tokens("chat_server", turn, options) + 20
        for job, turn in turns.items()
    }


@pytest.mark.django_db
@pytest.mark.parametrize("limit", ["tokens", "token_cost"])
def test_a_campaign_without_tokens_is_paused_and_who_is_there_is_paid(
    fake: Fake, limit: str, client: Client
) -> None:
    limits: dict[str, Any] = {limit: Decimal("0.01") if limit == "token_cost" else 1}
    campaign = campaign_of(fake, **limits)
    send(campaign)
    answer()
    assert fake.asked == []
    campaign.refresh_from_db()
    assert campaign.state == "PAUSED"
    assert campaign.participations.get().code.kind == "FULL"
    assert AuditEntry.objects.filter(action="campaign pause").count() == 1
    client.force_login(make_staff("ann"))
    page = client.get(f"/campaigns/{campaign.pk}/live/").content.decode()
    assert "1 conversation ended without tokens, with full pay." in page


@pytest.mark.django_db
def test_limits_are_raised_while_the_campaign_is_paused(fake: Fake, client: Client) -> None:
    campaign = campaign_of(fake, people=2, tokens=1, conversation_tokens=4000)
    first, second = campaign.participations.order_by("pk")
    chat.send_message(person=first, client_id=uuid4(), text="Hello.", now=NOW)
    answer()
    client.force_login(make_staff("ann"))
    address = f"/campaigns/{campaign.pk}/budget/"
    raw = {"raises_tokens": "yes", "tokens": "1", "reason": "more"}
    assert client.post(address, raw).status_code == 422
    assert client.post(address, raw | {"tokens": ""}).status_code == 422
    assert client.post(address, raw | {"tokens": "5000"}).status_code == 302
    campaign.refresh_from_db()
    assert (campaign.tokens, campaign.conversation_tokens) == (5000, 4000)
    assert "1 → 5000" in campaign.amendments.order_by("-pk")[0].text
    chat.send_message(person=second, client_id=uuid4(), text="Hello.", now=NOW)
    answer()
    assert (held(campaign).used, held(campaign).most) == (OF_A_REPLY, 5000)
    assert client.post(address, raw | {"tokens": "6000"}).status_code == 302
    assert held(campaign).most == 6000


@pytest.mark.django_db
def test_the_live_page_shows_what_is_used_and_says_when_little_is_left(
    fake: Fake, client: Client
) -> None:
    campaign = campaign_of(fake, tokens=1000)
    send(campaign)
    answer()
    client.force_login(make_staff("ann"))
    page = client.get(f"/campaigns/{campaign.pk}/live/").content.decode()
    assert 'id="tokens"' in page
    assert "of 1,000 tokens" in page
    assert "of the tokens is used" not in page
    Allowance.objects.update(most=OF_A_REPLY)
    page = client.get(f"/campaigns/{campaign.pk}/live/").content.decode()
    assert "95 % of the tokens is used: 14 of 14." in page


@pytest.mark.django_db
def test_a_reply_waits_for_what_others_have_reserved(fake: Fake) -> None:
    campaign = campaign_of(fake, people=2)
    send(campaign)
    estimate = _estimate(campaign)
    Campaign.objects.filter(pk=campaign.pk).update(tokens=estimate + OF_A_REPLY)
    (work,) = worker.claim(bot="chat_server", owner="one")
    assert len(work.jobs) == 1
    waiting = ReplyJob.objects.exclude(pk=work.jobs[0].pk).get()
    assert (waiting.state, waiting.attempt) == (J.QUEUED, 0)
    assert held(campaign).reserved == estimate
    worker.settle_together([worker.ask(work, inference.respond_here)])
    ReplyJob.objects.update(lease_until=None)
    answer()
    assert [job.state for job in ReplyJob.objects.all()] == [J.DONE, J.DONE]
    assert held(campaign).used == 2 * OF_A_REPLY


@pytest.mark.django_db
def test_a_call_is_kept_and_counted_once_where_its_answer_cannot_be_stored(fake: Fake) -> None:
    campaign = campaign_of(fake, tokens=10_000)
    send(campaign)
    (work,) = worker.claim(bot="chat_server", owner="one")
    (job,) = work.jobs
    events.append(
        conversation=job.conversation,
        kind="message",
        content={"text": "Another worker was here."},
        side=1,
        in_reply_to=job.in_reply_to,
    )
    with pytest.raises(IntegrityError):
        worker.settle_together([worker.ask(work, inference.respond_here)])
    assert ReplyCall.objects.get().outcome == "SHOWN"
    row = held(campaign)
    assert (row.used, row.reserved) == (OF_A_REPLY, 0)


@pytest.mark.django_db
def test_a_call_whose_end_nobody_saw_counts_in_full(fake: Fake) -> None:
    campaign = campaign_of(fake, tokens=10_000)
    send(campaign)
    (work,) = worker.claim(bot="chat_server", owner="dies")
    estimate = work.jobs[0].held_tokens
    assert estimate > 20
    queue.put_back(work.jobs[0], "the worker died")
    ReplyJob.objects.update(lease_until=None)
    answer()
    row = held(campaign)
    assert (row.used, row.reserved) == (estimate + OF_A_REPLY, 0)


@pytest.mark.django_db
def test_more_than_was_reserved_is_shown_and_stops_the_next(fake: Fake) -> None:
    campaign = campaign_of(fake, tokens=2000)
    campaign.systems.update(options=campaign.systems.get().options | {"model": "scripted"})
    message = {"message": {"content": "Hi."}, "finish_reason": "stop"}
    usage = {"prompt_tokens": 1990, "completion_tokens": 510}
    fake.script = [{"choices": [message], "usage": usage}]
    person = campaign.participations.get()
    chat.send_message(person=person, client_id=uuid4(), text="0", now=NOW)
    answer()
    row = held(campaign)
    assert (row.used, row.beyond, row.reserved) == (2000, 500, 0)
    assert allowances.books(campaign)[0].used == 2500
    with pytest.raises(IntegrityError), transaction.atomic():
        Allowance.objects.filter(pk=row.pk).update(reserved=1)
    send(campaign)
    answer()
    campaign.refresh_from_db()
    assert (campaign.state, len(fake.asked)) == ("PAUSED", 1)


@pytest.mark.parametrize(
    ("reply", "error", "used"),
    [
        (Reply("Hi.", details={"usage": {"prompt_tokens": 7, "completion_tokens": 2}}), "", (7, 2)),
        (Reply("abcd", prompt="x" * 30), "", (10, 2)),
        (Reply("ab", raw="üü", reasoning="abc", prompt=[]), "", (1, 3)),
        (Reply("", details={"error": "x"}, prompt="x" * 30), "status 400", (0, 0)),
        (Reply("", prompt="x" * 30), "it did not answer within 30 s", (10, 0)),
        (Reply("Hi."), "", None),
    ],
)
def test_what_a_server_does_not_report_is_estimated(
    reply: Reply, error: str, used: tuple[int, int] | None
) -> None:
    assert allowances._used(reply, error) == used


@pytest.mark.django_db
def test_rehearsals_and_baselines_are_not_counted(fake: Fake) -> None:
    campaign = make_campaign(systems={"one": "parrot"}, tokens=1, changes={"chat.pace": 0.0})
    opening.open_with_bot(
        person=make_participation(campaign), system=campaign.systems.get(), now=NOW
    )
    send(campaign)
    serving.serve(bot="parrot", owner="test", respond=inference.respond_here)
    assert ReplyJob.objects.get().state == J.DONE
    assert not Allowance.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_calls_at_once_reserve_no_more_than_there_is(fake: Fake) -> None:
    """Eight claims side by side, an allowance for three of them: three calls are made."""
    campaign = campaign_of(fake, people=8)
    send(campaign)
    estimates = _estimates(campaign)
    Campaign.objects.filter(pk=campaign.pk).update(tokens=3 * max(estimates.values()) + 2)
    start = threading.Barrier(4)
    found: list[int] = []

    def claim(number: int) -> None:
        start.wait()
        works: list[ReplyWork] = worker.claim(bot="chat_server", owner=f"w{number}", most=2)
        found.extend(job.pk for work in works for job in work.jobs)
        connection.close()

    threads = [threading.Thread(target=claim, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    row = held(campaign)
    assert len(found) == 3
    assert row.reserved == sum(estimates[job] for job in found) <= row.most
    assert not ReplyCall.objects.exists()
