"""One websocket, one seat: frames in, frames out. It keeps no more than what it sent last.

ORM work runs in a pool of threads, so a slow query holds up its own socket only (R29). Hints wake
it; it looks by itself every few seconds as well (R8).

Long because a socket's limits and its life belong together.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import random
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any

from channels.layers import get_channel_layer
from django.conf import settings
from django.db import DatabaseError, InterfaceError
from django.utils import timezone

from webapp import exchange, frames, handshake, realtime
from webapp.gathering import Gatherer, database
from webapp.handshake import Receive, Scope, Send
from webapp.services import access, following, saying

log = logging.getLogger(__name__)
POLL = (4.0, 6.0)  # seconds between looks, drawn: sockets do not all look at once
MOMENT = 0.05  # seconds that an answer has to come together with what it answers
HELLO = 5.0  # seconds to say hello
IDLE = 60.0  # seconds without a frame
STRIKES, SOCKETS = 3, 3
ENDED, AWAY, REFUSED, BUSY = 1000, 1001, 1008, 1013

_sockets: dict[int, list[ChatConsumer]] = defaultdict(list)  # of this process, by participation


_say: Gatherer[saying.Saying, Any] = Gatherer(
    lambda sayings: saying.say_all(sayings, now=timezone.now()),
    at_once=1 if settings.DATABASE["ENGINE"].endswith("sqlite3") else 4,  # it has one writer
)
_look: Gatherer[following.Asked, list[frames.Frame]] = Gatherer(
    lambda asked: following.news_all(asked, now=timezone.now()), at_once=4
)


class ChatConsumer:
    """Follows one participation's conversation."""

    def __init__(self, scope: Scope, send: Send) -> None:
        self.slug: str = scope["url_route"]["kwargs"]["slug"]
        self.talk = handshake.asked(scope, "talk")
        self.secret = handshake.cookie(scope, f"{settings.PARTICIPANT_COOKIE}-{self.slug}")
        self.base_send = send
        self.tab = ""
        self.person_pk = self.conversation_pk = 0
        self.seen = self.own = 0  # the latest entry sent; the latest that came from here
        self.strikes = 0
        self.greeted = self.closed = self.superseded = False
        self.shown: frames.Frame = {}  # the status sent last
        self.heard = time.monotonic()
        self.limits = handshake.Limits()
        self.looking = asyncio.Lock()
        self.joined = asyncio.Event()
        self.tasks: list[asyncio.Task[None]] = []

    @classmethod
    async def serve(cls, scope: Scope, receive: Receive, send: Send) -> None:
        """Be the ASGI application of one socket."""
        await receive()  # websocket.connect
        consumer = cls(scope, send)
        try:
            await consumer.guarded(consumer.connect)
            while (message := await receive())["type"] != "websocket.disconnect":
                await consumer.guarded(partial(consumer.receive, message))
        finally:
            consumer.closed = True
            consumer.forget()

    async def guarded(self, work: Callable[[], Awaitable[None]]) -> None:
        """Whatever goes wrong, only this socket ends."""
        try:
            await work()
        except (DatabaseError, InterfaceError) as problem:
            log.warning("socket: database trouble: %s", type(problem).__name__)
            await self._send(frames.error("busy"))
            await self._close(BUSY)
        except Exception:
            log.exception("socket failed")
            await self._close(BUSY)

    async def connect(self) -> None:
        try:
            await database(self._find_seat)
        except access.NotFound:
            await self._close(REFUSED)
            return
        realtime.serve_on(asyncio.get_running_loop())
        await self.base_send({"type": "websocket.accept"})
        self.tasks = [asyncio.create_task(work()) for work in (self._watch, self._listen)]
        mine = _sockets[self.person_pk]
        mine.append(self)
        if len(mine) > SOCKETS:
            await mine[0]._close(REFUSED)

    async def receive(self, message: Mapping[str, Any]) -> None:
        """Handle one frame of the client's."""
        self.heard = time.monotonic()
        try:
            if message.get("text") is None:
                raise frames.BadFrame("must be text")
            frame = frames.parse(message["text"])
            if not self.greeted and frame["type"] != "hello":
                raise frames.BadFrame("the first frame must be hello")
        except frames.BadFrame as bad:
            await self._refuse(bad)
            return
        if not self.limits.allow(frame["type"]):
            await self._send(frames.error("too_fast"))
            return
        async with self.looking:
            if frame["type"] == "hello":
                await self._greet(frame)
            if "last_seen" in frame:
                self.seen, self.shown = frame["last_seen"], {}
            await self._tell(await self._act(frame))

    # --- what is behind them

    def _find_seat(self) -> None:
        person = access.participation(self.slug, self.secret)
        self.person_pk = person.pk
        self.conversation_pk = access.seat_of_talk(person, self.talk).conversation_id

    async def _act(self, frame: frames.Frame) -> list[frames.Frame]:
        """Do what a frame asks for: messages together with those of others, the rest one by one."""
        if frame["type"] == "say":
            asked = saying.Saying(self.person_pk, frame["id"], frame["text"], self.conversation_pk)
            try:
                self.own = (await _say.ask(asked)).seq
                return [exchange.ack(frame["id"], self.own)]
            except exchange.REFUSALS as problem:
                return [exchange.refusal(frame["id"], problem)]
        return await database(lambda: self._act_alone(frame))

    def _act_alone(self, frame: frames.Frame) -> list[frames.Frame]:
        person = access.participation(self.slug, self.secret)
        page = exchange.Page(person, self.conversation_pk, self.tab)
        return exchange.act(page=page, frame=frame, now=timezone.now())

    async def _greet(self, frame: frames.Frame) -> None:
        """Join the group before the replay, so that nothing falls between the two (R7).

        Where there is no layer to join, looking every few seconds has to do.
        """
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self.joined.wait(), realtime.PATIENCE)
        self.tab = frame["tab"]
        self.greeted = True

    async def _listen(self) -> None:
        """Look when a hint comes; where the layer fails, join it again after a while."""
        group, layer = realtime.group(self.conversation_pk), get_channel_layer()
        while not self.closed:
            try:
                channel = await layer.new_channel()
                try:
                    await layer.group_add(group, channel)
                    self.joined.set()
                    while True:
                        hint = await layer.receive(channel)
                        await self._heed(hint["seq"], partial(layer.receive, channel))
                finally:
                    await layer.group_discard(group, channel)
            except Exception as problem:  # a layer may fail in any way; the socket looks as well
                log.warning("socket without hints: %s", type(problem).__name__)
                await asyncio.sleep(random.uniform(*POLL))  # noqa: S311 (spreads the load)

    async def _heed(self, seq: int, another: Callable[[], Awaitable[object]]) -> None:
        """Look, unless what the hint is about was sent already (0 is about no entry).

        After a hint about this socket's own message wait a moment: an answer that follows at once
        is then fetched with it.
        """
        async with self.looking:  # a message that is under way is known once it has returned
            own = seq == self.own
        if own:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(another(), MOMENT)
        if own or seq == 0 or seq > self.seen:
            await self.guarded(self._look)

    async def _look(self) -> None:
        if not self.greeted or self.closed:
            return
        async with self.looking:
            try:
                asked = following.Asked(
                    self.slug, self.secret, self.seen, self.tab, self.conversation_pk
                )
                news = await _look.ask(asked)
            except access.NotFound:  # withdrawn, or the secret was replaced
                await self._close(REFUSED)
                return
            await self._tell(news)

    async def _tell(self, answers: list[frames.Frame]) -> None:
        """Send frames: each entry once and in order, the status when it changed."""
        for frame in answers:
            if frame["type"] == "event":
                if frame["seq"] <= self.seen:
                    continue
                self.seen = frame["seq"]
            elif frame["type"] == "status":
                if frame == self.shown:
                    continue
                self.shown = frame
            await self._send(frame)
        await self._tell_older_tab()
        if self.shown.get("ended"):
            await self._close(ENDED)

    async def _tell_older_tab(self) -> None:
        superseded = not self.shown.get("tab_is_newest", True)
        if superseded and not self.superseded:
            await self._send({"type": "superseded"})
        self.superseded = superseded

    async def _refuse(self, bad: frames.BadFrame) -> None:
        await self._send(frames.answer_to(bad))
        self.strikes += bad.id is None
        if self.strikes >= STRIKES:
            await self._close(REFUSED)

    async def _watch(self) -> None:
        """Look every few seconds; close who says no hello, or nothing any more."""
        await asyncio.sleep(HELLO)
        if not self.greeted:
            await self._close(REFUSED)
        while not self.closed:
            if time.monotonic() - self.heard > IDLE:
                await self._close(AWAY)
                return
            await self.guarded(self._look)
            await asyncio.sleep(random.uniform(*POLL))  # noqa: S311 (spreads the load)

    async def _send(self, frame: frames.Frame) -> None:
        if not self.closed:
            text = json.dumps(frame, ensure_ascii=False)
            await self._out({"type": "websocket.send", "text": text})

    async def _close(self, code: int) -> None:
        if not self.closed:
            await self._out({"type": "websocket.close", "code": code})
            self.closed = True
            self.forget()

    async def _out(self, message: Mapping[str, Any]) -> None:
        try:
            await self.base_send(message)
        except (RuntimeError, OSError):  # the browser is gone already
            self.closed = True

    def forget(self) -> None:
        """Leave nothing behind."""
        for task in self.tasks:
            if task is not asyncio.current_task():
                task.cancel()
        mine = _sockets[self.person_pk]
        if self in mine:
            mine.remove(self)
        if not mine:
            del _sockets[self.person_pk]
