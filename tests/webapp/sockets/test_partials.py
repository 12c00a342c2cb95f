"""Replies that are seen to grow, from a real server of a model to a real socket (R1-R11 hold).

What grows is no message: it is stored nowhere, lost without harm, and there is one message at the
end, as without a stream.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from threading import Event
from typing import Any

import pytest
import redis
from django.conf import LazySettings

from tests.bots.chat_completions import END, Fake, running
from tests.conformance.documents import complaints
from tests.live import Client, Server, Study, serving
from tests.servers import redis_server
from tests.webapp.sockets.browsing import Pair, browsing, calm, is_message_of, pool
from tests.webapp.sockets.test_hints import use
from webapp import realtime
from webapp.realtime import Grown, Partial

MARKS = {"reasoning_begins": "", "reasoning_ends": ""}


@pytest.fixture
def fake() -> Iterator[Fake]:
    with running() as fake:
        yield fake


class Streaming:
    """A server with people who talk to a system that streams, and its database."""

    def __init__(self, folder: Path, server: Server, study: Study) -> None:
        self.folder, self.server, self.study = folder, server, study

    async def joined(self, number: int = 0) -> Client:
        return await (await Client(self.server, self.study, number).connect()).hello()

    def stored(self) -> str:
        """Return all that the database holds."""
        with closing(sqlite3.connect(self.folder / "parley.sqlite3")) as database:
            return "\n".join(database.iterdump())


@pytest.fixture
def served(tmp_path: Path, fake: Fake) -> Iterator[Any]:
    with ExitStack() as running_servers:

        def serve(*, streams: bool = True, **options: Any) -> Streaming:
            asked = {"url": fake.url, "model": "streams", "stream": True, "tries": 1, **MARKS}
            wanted = {"bot": "chat_server", "options": asked | options, "people": 2}
            wanted["changes"] = {"chat.streams": streams}
            allowed = {"BOT_PRIVATE_HOSTS": f"127.0.0.1:{fake.port}"}
            both = running_servers.enter_context(serving(tmp_path, wanted, **allowed))
            return Streaming(tmp_path, *both)

        yield serve


def is_partial(text: str) -> Any:
    return lambda frame: frame["type"] == "partial" and frame["text"] == text


def kinds(client: Client) -> list[str]:
    return [each.get("kind", each["type"]) for each in client.frames]


async def test_it_grows_before_anything_of_it_is_stored(served: Any, fake: Fake) -> None:
    fake.pieces = [{"reasoning_content": "Sly."}, "Marmalade ", "and toast.", *END]
    fake.waits = {2: Event(), 3: Event()}
    site = served()
    client = await site.joined()
    await client.send_message("What do you eat?")
    first = await client.until(is_partial("Marmalade "))
    assert "Marmalade" not in site.stored()
    fake.waits[2].set()
    await client.until(is_partial("Marmalade and toast."))
    assert "armalade" not in site.stored()
    fake.waits[3].set()
    reply = await client.reply()
    assert reply["text"] == "Marmalade and toast."
    own = next(each for each in client.frames if each.get("side") == "you")
    assert (first["after"], reply["seq"]) == (own["seq"], own["seq"] + 1)
    await client.send(type="sync", last_seq=0)
    await client.until(lambda frame: frame["type"] == "ready")
    assert not [each for each in client.frames if "Sly" in str(each)]
    after = client.frames[client.frames.index(reply) :]
    assert "partial" not in {each["type"] for each in after}
    assert [
        complaints(each, "ServerFrame") for each in client.frames if complaints(each, "ServerFrame")
    ] == []
    stored = site.stored()
    assert all(
        word in stored for word in ("Marmalade and toast.", '"finish_reason": "stop"', "Sly.")
    )
    await client.close()


async def test_who_comes_back_meanwhile_sees_it_grow_on_and_one_message(
    served: Any, fake: Fake
) -> None:
    fake.pieces = ["Marmalade ", "and ", "toast.", *END]
    fake.waits = {1: Event(), 2: Event()}
    site = served()
    client = await site.joined()
    await client.send_message("What do you eat?")
    await client.until(is_partial("Marmalade "))
    await client.close()
    again = await site.joined()
    assert kinds(again).count("message") == 1  # the own one
    fake.waits[1].set()
    await again.until(is_partial("Marmalade and "))
    fake.waits[2].set()
    await again.reply()
    await again.until(lambda frame: frame["type"] == "status" and frame["turn"] == "you")
    assert again.texts == [("you", "What do you eat?"), ("partner", "Marmalade and toast.")]
    await again.close()


async def test_a_model_server_that_dies_leaves_no_half_message(served: Any, fake: Fake) -> None:
    """The job is put back and asked for again, as after any answer that broke off (R13)."""
    fake.pieces, fake.dies_before = ["Marmalade ", "and toast.", *END], [1]
    fake.waits = {1: Event()}
    site = served()
    client = await site.joined()
    await client.send_message("What do you eat?")
    await client.until(is_partial("Marmalade "))
    fake.waits[1].set()
    await client.until(is_partial(""))
    await client.reply()
    assert client.texts == [("you", "What do you eat?"), ("partner", "Marmalade and toast.")]
    assert len(fake.asked) == 2
    await client.close()


async def test_one_that_keeps_dying_is_told_as_before(served: Any, fake: Fake) -> None:
    fake.pieces, fake.dies_before = ["Marmalade ", "and toast.", *END], [1, 1, 1]
    site = served()
    client = await site.joined()
    await client.send_message("What do you eat?")
    await client.until(lambda frame: frame["type"] == "status" and frame["failed"])
    assert client.texts == [("you", "What do you eat?")]
    assert "Marmalade" not in site.stored()
    await client.close()


@pytest.mark.parametrize(("streams", "stream"), [(False, True), (True, False), (False, False)])
async def test_where_either_is_off_the_frames_are_as_before(
    served: Any, fake: Fake, streams: bool, stream: bool
) -> None:
    fake.pieces = ["Marmalade ", "and toast.", *END]
    site = served(streams=streams, stream=stream, model="streams" if stream else "good")
    client = await site.joined()
    await client.send_message("What do you eat?")
    await client.reply()
    await client.until(lambda frame: frame["type"] == "status" and frame["turn"] == "you")
    assert set(kinds(client)) == {"status", "ready", "message", "ack"}
    assert ("stream" in fake.asked[0]) == stream
    await client.close()


# --- between processes --------------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
async def test_other_processes_hear_it_and_nothing_keeps_it(
    settings: LazySettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R8: Redis passes it on to who listens now, and holds nothing of it."""
    monkeypatch.setattr(realtime, "hand", lambda told: None)  # as if another process told it
    with redis_server() as url, redis.Redis.from_url(url) as other, pool(monkeypatch, 2):
        use(settings, url)
        pair = await asyncio.to_thread(Pair.make)
        async with browsing(pair) as browser:
            realtime.tell([Partial(pair.conversation, 0, "no deployer allowed it")])
            await calm()
            settings.PARTIALS_BY_REDIS = True
            for text in ("Mar", "Marmalade"):
                realtime.tell([Partial(pair.conversation, 0, text)])
                found = await browser.until(lambda frame: frame["type"] == "partial")
                assert found[-1] == {"type": "partial", "after": 0, "text": text}
        assert other.dbsize() == 0


@pytest.mark.django_db(transaction=True)
async def test_a_slow_socket_gets_the_latest_and_none_after_the_message(
    settings: LazySettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a socket has no time for is not kept, and what was answered does not grow any more."""
    with pool(monkeypatch, 2):
        pair = await asyncio.to_thread(Pair.make)
        async with browsing(pair) as browser:
            await browser.send_message("Do you like boats?")
            own = (await browser.until(is_message_of("you")))[-1]["seq"]
            browser.full_from = lambda frame: frame.get("text") == "1"
            for number in range(1, 100):
                realtime.hand([Partial(pair.conversation, own, str(number))])
                if number == 1:
                    async with asyncio.timeout(20):
                        await browser.is_full.wait()
            browser.may_go_on.set()
            told = await browser.until(is_partial("99"))
            assert [each["text"] for each in told if each["type"] == "partial"] == ["1", "99"]
            await pair.partner_sends("I have five.")
            await browser.until(is_message_of("partner"))
            realtime.hand([Partial(pair.conversation, own, "late")])
            await calm()
            realtime.hand([Partial(pair.conversation, own + 2, "of the next one")])
            assert "late" not in str(await browser.until(is_partial("of the next one")))


@pytest.mark.parametrize("told", [Grown(3, 7), Partial(3, 6, "Marmalade")])
def test_what_the_layer_carries_is_what_was_told(told: realtime.Signal) -> None:
    assert realtime.heard(realtime._message(told)) == told
