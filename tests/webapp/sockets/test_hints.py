"""Hints of a real Redis: a socket heeds every one of them, whatever it does when they come (R8).

Sockets do not look by themselves here: an entry whose hint was dropped would never be shown.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest
import redis
from celery import Celery
from channels.layers import get_channel_layer
from django.conf import LazySettings
from kombu.exceptions import OperationalError

from tests.servers import free_port, redis_server
from tests.webapp.sockets.browsing import PATIENCE, Pair, browsing, is_message_of, pool
from webapp import realtime
from webapp.sockets import consumers

pytestmark = pytest.mark.django_db(transaction=True)
THREADS = 4


@pytest.fixture(autouse=True)
def hints_only(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let nothing be handed over, as if all were written by another process; nobody looks."""
    monkeypatch.setattr(realtime, "hand", lambda grown: None)
    monkeypatch.setattr(consumers, "REJOIN", (0.0, 0.1))
    with pool(monkeypatch, THREADS):
        yield


def use(settings: LazySettings, url: str) -> None:
    backend = "channels_redis.pubsub.RedisPubSubChannelLayer"
    settings.CHANNEL_LAYERS = {"default": {"BACKEND": backend, "CONFIG": {"hosts": [url]}}}


@pytest.fixture
def pair() -> Pair:
    return Pair.make()


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
                    realtime.tell([realtime.Grown(pair.conversation)])
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


@pytest.mark.timeout(120)
async def test_a_word_to_all_workers_is_given_up_where_the_broker_has_gone_away() -> None:
    """R11: the connection of the word before is dead, and no hint may wait until it is not."""
    from webapp.celery import GIVING_UP

    port = free_port()
    app = Celery("words", broker=f"redis://127.0.0.1:{port}/0")
    app.conf.broker_transport_options = GIVING_UP
    with ExitStack() as running, redis.Redis(port=port) as other:
        running.enter_context(redis_server(port))
        with other.pubsub() as heard:
            heard.psubscribe("*pidbox*")
            await until(lambda: heard.get_message() is not None)
            realtime.wake_all(app, "parrot")
            await until(lambda: (word := heard.get_message()) and word["type"] == "pmessage")
        await asyncio.to_thread(running.close)
        async with asyncio.timeout(PATIENCE):
            with pytest.raises((OperationalError, redis.ConnectionError)):
                await asyncio.to_thread(realtime.wake_all, app, "parrot")
    app.close()
