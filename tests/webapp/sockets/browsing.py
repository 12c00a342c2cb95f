"""A browser's end of a socket in this process, and a count of what is asked of the database."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.utils import timezone

from tests.webapp.services import people
from webapp import realtime
from webapp.models import Campaign, Participation
from webapp.services.rules import access
from webapp.sockets import batching, consumers, lookout

PATIENCE = 20.0  # seconds for whatever is waited for
NEVER = (3600.0, 3600.0)
CONTROL = ("BEGIN", "COMMIT", "SAVEPOINT", "RELEASE", "ROLLBACK")
Frame = dict[str, Any]


@contextmanager
def pool(monkeypatch: pytest.MonkeyPatch, threads: int) -> Iterator[list[str]]:
    """Give sockets threads of their own, whose connections are closed; yields their statements.

    The lookout does not look by itself meanwhile.
    """
    monkeypatch.setattr(lookout, "PAUSE", NEVER)
    monkeypatch.setattr(consumers, "HELLO", NEVER[0])
    executor = ThreadPoolExecutor(max_workers=threads)
    monkeypatch.setattr(batching, "POOL", executor)
    together, asked = threading.Barrier(threads), []

    def note(execute: Any, sql: str, *rest: Any) -> Any:
        if not sql.startswith(CONTROL):
            asked.append(sql)
        return execute(sql, *rest)

    def in_each(work: Callable[[], object]) -> None:
        def once() -> None:
            together.wait()  # so that each thread takes one of these
            work()

        wait([executor.submit(once) for _ in range(threads)])

    in_each(lambda: connection.execute_wrappers.append(note))
    yield asked
    in_each(lambda: connection.execute_wrappers.clear())
    in_each(lambda: connection.close())
    executor.shutdown()


@dataclass(frozen=True)
class Pair:
    """Two people whose conversation is open; a socket is the first one's, or also the second's."""

    slug: str
    secret: str
    partners_secret: str
    person: Participation
    partner: Participation
    conversation: int

    @classmethod
    def make(cls, campaign: Campaign | None = None) -> Pair:
        campaign = campaign or people.people_campaign()
        both = people.pair(campaign, timezone.now())
        secrets = access.new_secret(), access.new_secret()
        for one, secret in zip(both, secrets, strict=True):
            rows = Participation.objects.filter(pk=one.pk)
            rows.update(secret_hash=access.secret_hash(secret))
        return cls(campaign.slug, *secrets, *both, people.conversation_of(both[0]).pk)

    async def partner_sends(self, text: str) -> None:
        await batching.database(lambda: people.send_message(self.partner, text, timezone.now()))

    @property
    def group(self) -> str:
        return realtime.group(self.conversation)


class Browser:
    """The far end of a socket in this process; it may stop taking what is sent to it."""

    def __init__(self, slug: str, secret: str) -> None:
        cookie = f"parley-{slug}={secret}".encode()
        self.scope = {
            "url_route": {"kwargs": {"slug": slug}},
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

    async def until(self, found: Callable[[Frame], bool]) -> list[Frame]:
        """Read until a frame is found; returns what came."""
        came: list[Frame] = []
        async with asyncio.timeout(PATIENCE):
            while not (came and found(came[-1])):
                came.append(await self.came.get())
        return came


async def calm(*browsers: Browser) -> None:
    """Wait until the sockets of this process have looked for what they were told of till now."""
    async with asyncio.timeout(PATIENCE):
        while any(
            each.inbox or each.looking.locked()
            for mine in consumers._sockets.values()
            for each in mine
        ):
            await asyncio.sleep(0.01)
    for browser in browsers:
        while not browser.came.empty():
            browser.came.get_nowait()


def is_message_of(side: str) -> Callable[[Frame], bool]:
    return lambda frame: frame.get("kind") == "message" and frame["side"] == side


def is_status(frame: Frame) -> bool:
    return bool(frame["type"] == "status")


@asynccontextmanager
async def browsing(pair: Pair, secret: str = "") -> AsyncIterator[Browser]:
    """Open a socket and say hello; at the end it is closed."""
    browser = Browser(pair.slug, secret or pair.secret)
    serving = asyncio.create_task(browser.serve())
    await browser.send(type="hello", last_seq=0, tab="one")
    await browser.until(lambda frame: frame["type"] == "ready")
    try:
        yield browser
    finally:
        browser.may_go_on.set()
        await browser.sent.put({"type": "websocket.disconnect"})
        await serving
