"""A client of docs/protocol.md: an outbox, a replay, and entries shown once and in order.

It goes over a websocket, or over plain HTTP for people whose network has none. Whatever happens to
the server, an item is sent again under its id until it is acknowledged or refused.
"""

from __future__ import annotations

import asyncio
import json
import time
import uuid
from typing import Any

import httpx
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus
from websockets.typing import Origin

from webapp.crowd.ledger import Ledger
from webapp.crowd.outbox import Frame, Outbox, OutboxItem
from webapp.crowd.people import Person
from webapp.crowd.web import Web

PING = 15.0
AGAIN = 4000  # why we close: to connect anew; 1000 is for the end of a conversation


class ClientSocket:
    """One person's side of one conversation, number `chat` of their participation."""

    def __init__(self, web: Web, ledger: Ledger, person: Person, path: str, chat: int) -> None:
        self.web, self.ledger, self.person, self.path, self.chat = web, ledger, person, path, chat
        self.tab = str(uuid.uuid4())
        self.token = self.key = ""  # of forms, and of the conversation, as the page has them
        self.entries: dict[int, Frame] = {}
        self.shown = 0  # all up to here are displayed
        self.status: Frame = {}
        self.over = False
        self.superseded = False
        self.hung_up = False  # the conversation is over, and nothing more is sent
        self.outbox = Outbox(person, self._note, chat)
        self.pongs_missing = 0
        self._was_refused = False
        self._changed = asyncio.Event()
        self._work = asyncio.Event()
        self._chance = person.chance("line", chat)

    # --- actions of the person

    def put(self, kind: str, **fields: Any) -> OutboxItem:
        """Keep an item, then have it sent."""
        item = self.outbox.put(kind, **fields)
        self._work.set()
        if self.hung_up:
            self.outbox.give_up(item)
        return item

    async def changed(self, seconds: float) -> None:
        """Wait for a change, at most so long."""
        try:
            await asyncio.wait_for(self._changed.wait(), seconds)
        except TimeoutError:
            return
        finally:
            self._changed.clear()

    def messages(self) -> list[Frame]:
        return [self.entries[seq] for seq in sorted(self.entries) if self._is_message(seq)]

    def _is_message(self, seq: int) -> bool:
        return seq <= self.shown and self.entries[seq]["kind"] == "message"

    # --- staying connected

    async def run(self) -> None:
        """Stay connected until the conversation is over and nothing is left unanswered."""
        tries = 0
        while not self.over or self.outbox:
            before = self.shown, len(self.outbox)
            try:
                if self._was_refused:
                    # No socket for this cookie; HTTP answers whether the seat is lost.
                    self._was_refused = False
                    await self._poll(self._frames)
                if self.over:
                    await self._leftovers()
                elif self.person.plain:
                    await self._over_http()
                else:
                    await self._over_socket()
            except (OSError, httpx.TransportError, ConnectionClosed, InvalidHandshake) as problem:
                self._lost(problem)
            if self.over and not self.outbox:
                break
            tries = 0 if before != (self.shown, len(self.outbox)) else tries + 1
            self.web.turn()
            await self.web.wait(tries)
        self.hung_up = True

    def _lost(self, problem: Exception) -> None:
        if isinstance(problem, ConnectionClosed) and problem.rcvd and problem.rcvd.code == 1000:
            self.over = True
        self._was_refused = isinstance(problem, InvalidStatus) and (
            problem.response.status_code in (403, 404)
        )
        self.web.troubles += 1
        self.outbox.lost()
        self._changed.set()

    async def _over_socket(self) -> None:
        base = self.web.base
        address = base.replace("http", "ws", 1) + self._address("socket")
        async with connect(
            address,
            origin=Origin(base),
            additional_headers={"Cookie": self.web.cookie},
            compression=None,
            open_timeout=8,
            close_timeout=1,
            ping_interval=None,
            proxy=None,
        ) as socket:
            hello = {"type": "hello", "last_seq": self.shown, "tab": self.tab}
            await socket.send(json.dumps(hello))
            self.pongs_missing = 0
            writer = asyncio.create_task(self._write(socket))
            try:
                async for raw in socket:
                    await self._take(json.loads(raw), socket)
                    if self.over:
                        return
            finally:
                writer.cancel()
                await asyncio.gather(writer, return_exceptions=True)
        if socket.close_code == 1000:
            self.over = True

    async def _write(self, socket: ClientConnection) -> None:
        pinged = time.monotonic()
        while True:
            due = self.outbox.due()
            for frame in due:
                await socket.send(json.dumps(frame))
            has_message = any(frame["type"] == "message" for frame in due)
            if has_message and self._chance.random() < self.person.flaky:
                await socket.close(AGAIN)
                return
            if time.monotonic() - pinged > PING:
                pinged = time.monotonic()
                if self.pongs_missing >= 2:
                    await socket.close(AGAIN)
                    return
                self.pongs_missing += 1
                await socket.send('{"type": "ping"}')
            await self._some_work()

    async def _over_http(self) -> None:
        path = self._frames
        while not self.over:
            for frame in self.outbox.due():
                self._answered(await self.web.frames(path, self.token, self.tab, frame))
            await self._poll(path)
            await self._some_work(1.0)

    @property
    def _frames(self) -> str:
        return self._address("frames")

    def _address(self, name: str) -> str:
        return f"{self.path}{name}?conversation={self.key}&version=2"

    async def _leftovers(self) -> None:
        """Ask for the answers that were lost when the conversation ended."""
        for item in self.outbox.items():
            answer = await self.web.frames(self._frames, self.token, self.tab, item.frame)
            self._answered(answer)
            if answer.status_code == 404:
                self.outbox.give_up(item)

    async def _poll(self, path: str) -> None:
        after = f"{path}&after={self.shown}"
        self._answered(await self.web.frames(after, self.token, self.tab))

    def _answered(self, answer: httpx.Response) -> None:
        if answer.status_code == 404:
            self.over = True
            self._changed.set()
            return
        if answer.status_code in (429, 500, 502, 503):
            raise OSError(f"status {answer.status_code}")
        if answer.status_code not in (200, 400):
            self._note("trouble", why=f"frames: {answer.status_code}")
            raise OSError(f"status {answer.status_code}")
        for frame in answer.json()["frames"]:
            self._accept(frame)

    async def _some_work(self, longest: float = 0.25) -> None:
        try:
            await asyncio.wait_for(self._work.wait(), longest)
        except TimeoutError:
            return
        finally:
            self._work.clear()

    # --- frames of the server

    async def _take(self, frame: Frame, socket: ClientConnection) -> None:
        self._accept(frame)
        if frame["type"] == "event" and frame["seq"] > self.shown:
            await socket.send(json.dumps({"type": "sync", "last_seq": self.shown}))

    def _accept(self, frame: Frame) -> None:
        kind = frame["type"]
        if kind == "event":
            self._show(frame)
        elif kind in ("ack", "refused"):
            self.outbox.settle(frame)
        elif kind == "status":
            self.status = frame
            self.over = self.over or bool(frame["ended"])
        elif kind == "pong":
            self.pongs_missing = 0
        elif kind == "superseded":
            self.superseded = True
        elif kind == "error":
            self._note("error", code=frame["code"])
        if kind != "pong":
            self._changed.set()

    def _show(self, frame: Frame) -> None:
        """Display what is next; hold back what comes after a gap; drop what is known."""
        if frame["seq"] in self.entries:
            if self.entries[frame["seq"]] != frame:
                self._note("changed", seq=frame["seq"], entry=frame)
            return
        self.entries[frame["seq"]] = frame
        while self.shown + 1 in self.entries:
            self.shown += 1
            self._note("show", seq=self.shown, entry=self.entries[self.shown])

    def _note(self, what: str, **fields: Any) -> None:
        self.ledger.write(self.person.name, what, chat=self.chat, **fields)
