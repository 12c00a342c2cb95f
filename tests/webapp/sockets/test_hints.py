"""Hints of a real Redis: a socket heeds every one of them, whatever it does when they come (R8).

Sockets do not look by themselves here: an entry whose hint was dropped would never be shown.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import pytest
import redis
from channels.layers import get_channel_layer
from django.conf import LazySettings
from django.db import connection
from django.utils import timezone

from tests.servers import free_port, redis_server
from tests.servers import redis_url as redis_url  # a fixture
from tests.webapp.services import people
from webapp import realtime
from webapp.models import Participation
from webapp.services.rules import access
from webapp.sockets import batching, consumers

pytestmark = pytest.mark.django_db(transaction=True)
PATIENCE = 20.0  # seconds for whatever is waited for
NEVER = (3600.0, 3600.0)
THREADS = 4
Frame = dict[str, Any]


@pytest.fixture(autouse=True)
def hints_only(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Switch the looks of sockets off, and close what their threads leave open."""
    monkeypatch.setattr(consumers, "POLL", NEVER)
    monkeypatch.setattr(consumers, "HELLO", NEVER[0])
    monkeypatch.setattr(consumers, "REJOIN", (0.0, 0.1))
    pool = ThreadPoolExecutor(max_workers=THREADS)
    monkeypatch.setattr(batching, "POOL", pool)
    yield
    together = threading.Barrier(THREADS)

    def close_own() -> None:
        together.wait()  # so that each thread takes one of these
        connection.close()

    wait([pool.submit(close_own) for _ in range(THREADS)])
    pool.shutdown()


def use(settings: LazySettings, url: str) -> None:
    backend = "channels_redis.pubsub.RedisPubSubChannelLayer"
    settings.CHANNEL_LAYERS = {"default": {"BACKEND": backend, "CONFIG": {"hosts": [url]}}}


@dataclass(frozen=True)
class Pair:
    """Two people whose conversation is open; a socket is the first one's."""

    slug: str
    secret: str
    partner: Participation
    conversation: int

    async def partner_sends(self, text: str) -> None:
        await batching.database(lambda: people.send_message(self.partner, text, timezone.now()))

    @property
    def group(self) -> str:
        return realtime.group(self.conversation)


@pytest.fixture
def pair() -> Pair:
    first, second = people.pair(people.people_campaign(), timezone.now())
    secret = access.new_secret()
    Participation.objects.filter(pk=first.pk).update(secret_hash=access.secret_hash(secret))
    return Pair(first.campaign.slug, secret, second, people.conversation_of(first).pk)


class Browser:
    """The far end of a socket in this process; it may stop taking what is sent to it."""

    def __init__(self, pair: Pair) -> None:
        cookie = f"parley-{pair.slug}={pair.secret}".encode()
        self.scope = {
            "url_route": {"kwargs": {"slug": pair.slug}},
            "query_string": b"version=2",
            "headers": [(b"cookie", cookie)],
        }
        self.sent: asyncio.Queue[Frame] = asyncio.Queue()
        self.sent.put_nowait({"type": "websocket.connect"})
        self.came: asyncio.Queue[Frame] = asyncio.Queue()
        self.full_from: Callable[[Frame], bool] = lambda frame: False
        self.is_full, self.may_go_on = asyncio.Event(), asyncio.Event()

    async def serve(self) -> None:
        await consumers.ChatConsumer.serve(self.scope, self.sent.get, self._take)

    async def _take(self, message: Any) -> None:
        frame = json.loads(message["text"]) if "text" in message else message
        if self.full_from(frame):
            self.is_full.set()
            await self.may_go_on.wait()
        await self.came.put(frame)

    async def send(self, **frame: Any) -> None:
        await self.sent.put({"type": "websocket.receive", "text": json.dumps(frame)})

    async def send_message(self, text: str) -> None:
        await self.send(type="message", id=str(uuid4()), text=text)

    async def until(self, found: Callable[[Frame], bool]) -> None:
        """Read until a frame is found."""
        async with asyncio.timeout(PATIENCE):
            while not found(await self.came.get()):
                pass


def is_message_of(side: str) -> Callable[[Frame], bool]:
    return lambda frame: frame.get("kind") == "message" and frame["side"] == side


@asynccontextmanager
async def browsing(pair: Pair) -> AsyncIterator[Browser]:
    """Open a socket and say hello; at the end it is closed."""
    browser = Browser(pair)
    serving = asyncio.create_task(browser.serve())
    await browser.send(type="hello", last_seq=0, tab="one")
    await browser.until(lambda frame: frame["type"] == "ready")
    try:
        yield browser
    finally:
        browser.may_go_on.set()
        await browser.sent.put({"type": "websocket.disconnect"})
        await serving


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not condition():
            await asyncio.sleep(0.01)


async def test_a_hint_that_comes_while_a_socket_is_busy_is_heeded(
    settings: LazySettings, redis_url: str, pair: Pair
) -> None:
    """The socket waited in vain for an answer to its own message, looked, and sends what it saw."""
    use(settings, redis_url)
    layer = get_channel_layer()
    async with browsing(pair) as browser:
        await layer.group_add(pair.group, beside := await layer.new_channel())
        await browser.send_message("Hello there.")
        await browser.until(is_message_of("you"))
        await pair.partner_sends("Good morning.")
        await browser.until(is_message_of("partner"))  # the hints of the beginning are heeded
        browser.full_from = is_message_of("you")
        await browser.send_message("Do you like boats?")
        async with asyncio.timeout(PATIENCE):
            await browser.is_full.wait()
            await pair.partner_sends("I have five.")
            while (await layer.receive(beside))["seq"] < 4:
                pass  # once this channel has the hint, the socket's has it too
        browser.may_go_on.set()
        await browser.until(is_message_of("partner"))


@pytest.mark.parametrize("closes", ["browser", "server"])
async def test_a_socket_that_closes_leaves_no_subscription(
    settings: LazySettings, pair: Pair, closes: str
) -> None:
    with redis_server() as url, redis.Redis.from_url(url) as other:
        use(settings, url)
        async with browsing(pair) as browser:
            await browser.send_message("Do you like boats?")
            await browser.until(is_message_of("you"))
            assert len(other.pubsub_channels()) == 2  # the socket's own and the group's
            await pair.partner_sends("I have five.")
            await browser.until(is_message_of("partner"))
            await browser.until(lambda frame: frame["type"] == "status")
            if closes == "server":
                for _ in range(consumers.STRIKES):
                    await browser.send(type="nothing")
                await browser.until(lambda frame: frame["type"] == "websocket.close")
                await asyncio.sleep(0)  # it is leaving the group when it hears that all is over
        await until(lambda: not other.pubsub_channels())
        layer = get_channel_layer()
        assert (layer.channels, layer.groups) == ({}, {})


async def test_a_reader_that_fails_makes_the_socket_join_again(
    settings: LazySettings, redis_url: str, pair: Pair, caplog: pytest.LogCaptureFixture
) -> None:
    use(settings, redis_url)
    async with browsing(pair) as browser:
        await browser.send_message("Do you like boats?")
        await browser.until(is_message_of("you"))
        with redis.Redis.from_url(redis_url) as other:
            assert other.publish(f"asgi__group__{pair.group}", b"\xc1") == 1  # no MessagePack
        await until(lambda: "socket without hints: " in caplog.text)
        await pair.partner_sends("I have five.")
        await browser.until(is_message_of("partner"))


async def test_a_redis_that_stops_and_comes_back_hints_again(
    settings: LazySettings, pair: Pair
) -> None:
    use(settings, f"redis://127.0.0.1:{(port := free_port())}/0")
    with ExitStack() as running:
        running.enter_context(redis_server(port))
        async with browsing(pair) as browser:
            await browser.send_message("Do you like boats?")
            await browser.until(is_message_of("you"))
            lost = realtime.lost["browser"]
            await asyncio.to_thread(running.close)
            await pair.partner_sends("I have five.")
            await until(lambda: realtime.lost["browser"] > lost)
            await asyncio.to_thread(running.enter_context, redis_server(port))
            async with asyncio.timeout(PATIENCE):
                while not (
                    browser.came.qsize() and is_message_of("partner")(browser.came.get_nowait())
                ):
                    realtime.hint(pair.conversation, 0)
                    await asyncio.sleep(0.1)


async def test_a_socket_that_finds_no_redis_joins_and_looks_once_it_is_there(
    settings: LazySettings, pair: Pair
) -> None:
    use(settings, f"redis://127.0.0.1:{(port := free_port())}/0")
    async with browsing(pair) as browser:
        await browser.send_message("Do you like boats?")
        await browser.until(lambda frame: frame["type"] == "ack")
        await pair.partner_sends("I have five.")
        with redis_server(port):
            await browser.until(is_message_of("partner"))
