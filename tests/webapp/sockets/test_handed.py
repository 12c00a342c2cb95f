"""What this process commits is handed to its sockets: once, in order, and never before (R6, R8).

Nobody looks by themselves here, and no layer hints: an entry that is not handed over is not shown,
unless the test lets the lookout look.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from contextlib import AsyncExitStack
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from tests.factories import NOW, make_campaign
from tests.webapp.services import people
from tests.webapp.sockets.browsing import (
    CONTROL,
    Pair,
    browsing,
    calm,
    is_message_of,
    is_status,
    pool,
)
from webapp import realtime
from webapp.models import Event, Participation
from webapp.services.conversation import messages
from webapp.services.rules import events
from webapp.sockets import lookout
from webapp.sockets.batching import database

BUDGETS = json.loads((Path(__file__).parents[2] / "budgets.json").read_text())
database_test = pytest.mark.django_db(transaction=True)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Return the statements of the sockets; signs of life, every few seconds, are left out."""
    monkeypatch.setattr(messages, "FRESH", timedelta(hours=1))
    with pool(monkeypatch, 1) as found:
        yield found


@pytest.fixture
def pair(asked: list[str]) -> Pair:
    return Pair.make()


def append(pair: Pair, text: str, side: int = 1) -> Event:
    conversation = people.conversation_of(pair.person)
    content = {"text": text}
    return events.append(conversation=conversation, kind="message", content=content, side=side)


@database_test
async def test_both_see_a_message_and_whose_turn_it_is_without_a_look(
    pair: Pair, asked: list[str]
) -> None:
    async with browsing(pair) as first, browsing(pair, pair.partners_secret) as second:
        await calm(first, second)
        asked.clear()
        await first.send_message("Do you like boats?")
        ack, own, status = await first.until(is_status)
        assert (ack["type"], own["side"], status["turn"]) == ("ack", "you", "partner")
        event, status = await second.until(is_status)
        assert (event["text"], event["seq"], status["turn"]) == ("Do you like boats?", 1, "you")
        assert "id" not in event
        assert len(asked) <= BUDGETS["message alone over sockets, with all looks"], asked


@database_test
@pytest.mark.parametrize("count", [8, 32])
async def test_messages_at_once_share_their_statements(count: int, asked: list[str]) -> None:
    campaign = await database(lambda: people.people_campaign(target=2 * count))
    pairs = [await database(lambda: Pair.make(campaign)) for _ in range(count)]
    async with AsyncExitStack() as stack:
        both = [
            (
                await stack.enter_async_context(browsing(each)),
                await stack.enter_async_context(browsing(each, each.partners_secret)),
            )
            for each in pairs
        ]
        await calm(*(browser for two in both for browser in two))
        asked.clear()
        for sender, _ in both:
            await sender.send_message("Do you like boats?")
        for sender, partner in both:
            await sender.until(is_message_of("you"))
            await partner.until(is_message_of("partner"))
        most = BUDGETS[f"message of {count} at once over sockets, with all looks"]
        assert len(asked) / count <= most, asked


@pytest.mark.django_db
@pytest.mark.parametrize("count", [1, 8, 32])
@pytest.mark.parametrize("partner", ["people", "bots"])
def test_a_transaction_of_messages_costs_the_same_for_any_number(partner: str, count: int) -> None:
    if partner == "people":
        campaign = people.people_campaign(target=2 * count)
        writers = [people.pair(campaign)[0] for _ in range(count)]
        most = BUDGETS["messages between people, one transaction of any size"]
    else:
        campaign = make_campaign("personachat_bot", target=count)
        writers = [people.start(campaign) for _ in range(count)]
        most = BUDGETS["messages to bots, one transaction of any size"]
    outgoing = [
        messages.OutgoingMessage(one.pk, uuid.uuid4(), "Hello.", people.conversation_of(one).pk)
        for one in writers
    ]
    with CaptureQueriesContext(connection) as queries:
        found = messages.send_all(outgoing, now=NOW)
    assert all(isinstance(one, Event) for one in found), found
    sql = [query["sql"] for query in queries if not query["sql"].startswith(CONTROL)]
    assert len(sql) <= most, sql


@database_test
async def test_what_was_not_handed_over_is_looked_for_with_the_next(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A gap: both are shown, in order, once."""
    async with browsing(pair) as browser:
        await calm(browser)
        with monkeypatch.context() as lost:
            lost.setattr(realtime, "tell", lambda grown: None)
            await database(lambda: append(pair, "This is lost."))
        await database(lambda: append(pair, "This is not."))
        found = await browser.until(is_status)
        await database(lambda: append(pair, "Nor is this."))
        found += await browser.until(is_status)
    texts = [(frame["seq"], frame["text"]) for frame in found if frame["type"] == "event"]
    assert texts == [(1, "This is lost."), (2, "This is not."), (3, "Nor is this.")]


@database_test
async def test_entries_that_are_handed_over_late_are_not_shown_again(pair: Pair) -> None:
    """Two threads commit one after the other, and hand over in the other order."""
    async with browsing(pair) as browser:
        await calm(browser)
        told: list[Any] = []
        realtime.follow(pair.conversation, told.append)
        await database(lambda: append(pair, "One."))
        found = await browser.until(is_status)
        await database(lambda: append(pair, "Two."))
        found += await browser.until(is_status)
        realtime.hand([told[1], told[0]])
        await database(lambda: append(pair, "Three."))
        found += await browser.until(is_status)
        realtime.leave(pair.conversation, told.append)
    assert [frame["seq"] for frame in found if frame["type"] == "event"] == [1, 2, 3]


@database_test
async def test_nothing_is_handed_over_before_the_commit_nor_after_a_rollback(pair: Pair) -> None:
    async with browsing(pair) as browser:
        await calm(browser)
        told: list[Any] = []
        realtime.follow(pair.conversation, told.append)

        def write(fails: bool) -> int:
            with transaction.atomic():
                append(pair, "Fails." if fails else "Holds.")
                before = len(told)
                if fails:
                    raise ZeroDivisionError
            return before

        with pytest.raises(ZeroDivisionError):
            await database(lambda: write(True))
        assert await database(lambda: write(False)) == 0
        found = await browser.until(is_status)
        realtime.leave(pair.conversation, told.append)
    assert [frame["text"] for frame in found if frame["type"] == "event"] == ["Holds."]
    assert [one.seq for one in told] == [1]


@database_test
async def test_idle_sockets_cost_one_statement_of_the_process(asked: list[str]) -> None:
    """R8: and what nobody was told of is found by it."""
    campaign = await database(lambda: people.people_campaign(target=10))
    pairs = [await database(lambda: Pair.make(campaign)) for _ in range(5)]
    async with AsyncExitStack() as stack:
        browsers = [await stack.enter_async_context(browsing(each)) for each in pairs]
        await calm(*browsers)
        await lookout.here().look()
        await calm(*browsers)
        asked.clear()
        await lookout.here().look()
        assert len(asked) <= BUDGETS["idle sockets of a process, a second"], asked
        for browser in browsers:
            await browser.send(type="ping")
            await browser.until(lambda frame: frame["type"] == "pong")
        asked.clear()
        old = timezone.now() - timedelta(hours=2)
        await database(lambda: Participation.objects.update(seen_at=old))
        asked.clear()
        await lookout.here().look()
        heading = "idle sockets of a process, a second in which people gave a sign of life"
        assert len(asked) <= BUDGETS[heading], asked
        person = await database(lambda: Participation.objects.get(pk=pairs[0].person.pk))
        assert person.seen_at > old


@database_test
async def test_the_lookout_finds_what_nobody_told_of(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with browsing(pair) as browser:
        await calm(browser)
        monkeypatch.setattr(realtime, "tell", lambda grown: None)
        await database(lambda: append(pair, "From elsewhere."))
        await lookout.here().look()
        event, status = await browser.until(is_status)
        assert (event["text"], status["turn"]) == ("From elsewhere.", "you")
        rows = Participation.objects.filter(pk=pair.partner.pk)
        await database(lambda: rows.update(seen_at=timezone.now() - timedelta(minutes=5)))
        await lookout.here().look()
        (status,) = await browser.until(is_status)
        assert status["present"] is False
        rows = Participation.objects.filter(pk=pair.person.pk)
        await database(lambda: rows.update(tab="another"))
        await lookout.here().look()
        assert (await browser.until(is_status))[-1]["tab_is_newest"] is False
        await database(lambda: rows.update(withdrawn_at=timezone.now()))
        await lookout.here().look()
        assert (await browser.until(lambda frame: frame["type"] == "websocket.close"))[-1][
            "code"
        ] == 1008
