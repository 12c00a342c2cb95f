"""One websocket per seat: frames in, frames out. It keeps no more than what it sent last.

What this process commits is handed to it, and it looks at the database only for what it has missed:
hints of other processes and the `lookout` wake it (R8). ORM work runs in a pool of threads, so a
slow query holds up its own socket only (R29).

Long because a socket's limits and its life belong together.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
import time
from collections import defaultdict, deque
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from contextvars import copy_context
from functools import partial
from typing import Any

from channels.layers import get_channel_layer
from django.conf import settings
from django.db import DatabaseError, InterfaceError
from django.utils import translation
from msgspec.json import Encoder

from webapp import clock, languages, realtime
from webapp.realtime import Grown, Partial, Signal
from webapp.services.conversation import handed, messages, updates, watch
from webapp.services.conversation.page_session import page_session, page_session_in
from webapp.services.receipts.acknowledging import stored
from webapp.services.rules import access
from webapp.sockets import draining, exchange, frames, handshake, lookout, version_1
from webapp.sockets.batching import Gatherer, database
from webapp.sockets.handshake import Receive, Scope, Send

log = logging.getLogger(__name__)
REJOIN = (4.0, 6.0)  # seconds until a layer that failed is joined again, drawn: not all at once
WAITING = 64  # entries that wait for a slow socket; the oldest are dropped, and looked up again
HELLO = 5.0  # seconds to say hello
IDLE = 60.0  # seconds without a frame
STRIKES, SOCKETS = 3, 3
ENDED, AWAY, REFUSED, BUSY = 1000, 1001, 1008, 1013
UNDER_WAY = 0.2  # seconds in which a frame that was sent before the drain is still read
ENCODER = Encoder()

_sockets: dict[int, list[ChatConsumer]] = defaultdict(list)  # of this process, by participation


async def drain() -> None:
    """Send everybody elsewhere: what is under way is answered, and new sockets are refused."""
    draining.begin()
    await asyncio.sleep(UNDER_WAY)
    for consumer in [each for mine in _sockets.values() for each in mine]:
        async with consumer.looking:  # a frame that is being answered
            await consumer._close(AWAY)


_send_all: Gatherer[messages.OutgoingMessage, Any] = Gatherer(
    lambda outgoing: messages.send_all(outgoing, now=clock.now(), notes_life=False),
    at_once=1 if settings.DATABASE["ENGINE"].endswith("sqlite3") else 4,  # it has one writer
)
_allow_all: Gatherer[tuple[int, frames.Frame], bool] = Gatherer(handshake.allow_all, at_once=4)
_fetch: Gatherer[updates.UpdateRequest, list[frames.Answer]] = Gatherer(
    lambda requests: updates.conversation_updates_all(requests, now=clock.now()), at_once=4
)


class ChatConsumer:
    """Follows one participation's conversation."""

    def __init__(self, scope: Scope, send: Send) -> None:
        self.slug: str = scope["url_route"]["kwargs"]["slug"]
        self.key = handshake.parameter(scope, "conversation")
        self.key = self.key or handshake.parameter(scope, version_1.CONVERSATION)
        self.version = handshake.parameter(scope, "version")
        self.secret = handshake.cookie(scope, f"{settings.PARTICIPANT_COOKIE}-{self.slug}")
        self.language = languages.SOURCE
        self.accepted = handshake.header(scope, b"accept-language")
        self.chosen = handshake.cookie(scope, settings.LANGUAGE_COOKIE_NAME)
        self.base_send = send
        self.tab = ""
        self.person_pk = self.conversation_pk = 0
        self.last_seq = 0  # of the latest entry sent
        self.strikes = 0
        self.greeted = self.closed = self.superseded = False
        self.shown: frames.Answer = {}  # the status sent last
        self.heard = time.monotonic()
        self.looking = asyncio.Lock()  # held by whoever sends; it takes in what came meanwhile
        self.joined = asyncio.Event()
        self.inbox: deque[Grown] = deque(maxlen=WAITING)
        self.partial: Partial | None = None  # the latest that waits
        self.answered = 0  # seq of the partner's latest message sent
        self.looked_for: tuple[frozenset[str], float] = (frozenset(), 0.0)
        self.context = copy_context()
        self.tasks: set[asyncio.Task[None]] = set()
        self.timer: asyncio.TimerHandle | None = None

    @classmethod
    async def serve(cls, scope: Scope, receive: Receive, send: Send) -> None:
        """Run the ASGI connection loop of one socket."""
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
        if draining.is_draining():
            await self._close(AWAY)
            return
        try:
            await database(self._find_seat)
        except access.NotFound:
            await self._close(REFUSED)
            return
        translation.activate(self.language)  # for this socket's tasks, which have its context
        realtime.serve_on(asyncio.get_running_loop())
        await self.base_send({"type": "websocket.accept"})
        try:
            self.version = frames.check_version(self.version)
        except frames.BadFrame as bad:
            await self._send(frames.answer_to(bad))
            await self._close(REFUSED)
            return
        self.context = copy_context()
        self.timer = asyncio.get_running_loop().call_later(HELLO, self._watch)
        self._listen()
        lookout.here().watch(self)
        mine = _sockets[self.person_pk]
        mine.append(self)
        if draining.is_draining():  # begun since the look above
            await self._close(AWAY)
            return
        if len(mine) > SOCKETS:
            await mine[0]._close(REFUSED)

    async def receive(self, message: Mapping[str, Any]) -> None:
        """Handle one frame of the client's."""
        self.heard = time.monotonic()
        try:
            if message.get("text") is None:
                raise frames.BadFrame("must be text")
            frame = frames.parse(message["text"], self.version)
            if not self.greeted and not isinstance(frame, frames.Hello):
                raise frames.BadFrame("the first frame must be hello")
        except frames.BadFrame as bad:
            await self._refuse(bad)
            return
        if not await self._is_allowed(frame):
            await self._send(frames.error("too_fast"))
            return
        async with self.looking:
            if isinstance(frame, frames.Hello):
                await self._greet(frame)
            if isinstance(frame, frames.Hello | frames.Sync):
                self.last_seq, self.shown = frame.last_seq, {}
            await self._send_updates(await self._act(frame))
            await self._take_in()

    def _begin(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Let a task of this socket work, in its language; an idle socket has none."""
        loop = asyncio.get_running_loop()
        task = loop.create_task(self.guarded(work), context=self.context)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    # --- what is behind them

    def _find_seat(self) -> None:
        page = page_session(self.slug, self.secret, key=self.key, tab="")
        self.person_pk, self.conversation_pk = page.person_pk, page.conversation_id
        self.view = page.view
        self.language = languages.pick(page.languages, chosen=self.chosen, accepted=self.accepted)

    async def _is_allowed(self, frame: frames.Frame) -> bool:
        """Count the frame; where that asks another server, beside the loop (R29)."""
        if settings.EMBEDDED:
            return handshake.allow(self.person_pk, frame)
        return await _allow_all.ask((self.person_pk, frame))

    async def _act(self, frame: frames.Frame) -> list[frames.Answer]:
        """Carry out a frame: messages together with those of others, the rest one by one."""
        if isinstance(frame, frames.Message):
            message = messages.OutgoingMessage(
                self.person_pk, frame.id, frame.text, self.conversation_pk
            )
            lookout.here().note(self.person_pk)  # else it were a second commit
            try:
                return [exchange.ack(frame, stored(await _send_all.ask(message)))]
            except exchange.REFUSALS as problem:
                return [exchange.refusal(frame, problem)]
        if isinstance(frame, frames.Ping):
            lookout.here().note(self.person_pk)
            return [exchange.PONG]
        return await database(lambda: self._act_alone(frame))

    def _act_alone(self, frame: frames.Frame) -> list[frames.Answer]:
        page = page_session_in(self.slug, self.secret, self.conversation_pk, self.tab)
        with translation.override(self.language):
            return exchange.act(page=page, frame=frame, now=clock.now())

    async def _greet(self, frame: frames.Hello) -> None:
        """Join the group before the replay, so that nothing falls between the two (R7).

        Where there is no layer to join, looking every few seconds has to do.
        """
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self.joined.wait(), realtime.PATIENCE)
        self.tab = frame.tab
        self.greeted = True

    def _listen(self) -> None:
        """Be told what this process commits; where there are others, hear their hints as well."""
        realtime.follow(self.conversation_pk, self.tell)
        layer = get_channel_layer()
        if layer is None:
            self.joined.set()
        else:
            self._begin(partial(self._keep_hearing, layer))

    async def _keep_hearing(self, layer: Any) -> None:
        while not self.closed:
            try:
                await self._hear_hints(layer)
            except Exception as problem:  # a layer may fail in any way; the lookout sees as well
                log.warning("socket without hints: %s", type(problem).__name__)
                await asyncio.sleep(random.uniform(*REJOIN))  # noqa: S311 (spreads the load)

    async def _hear_hints(self, layer: Any) -> None:
        """Join the group and heed its hints until the layer fails.

        One task reads for as long as the socket lives: where a `receive` of Redis is canceled, it
        forgets the channel, and what comes before the next one is dropped.
        """
        group, channel = realtime.group(self.conversation_pk), await layer.new_channel()
        reader = asyncio.create_task(self._read_hints(layer, channel))
        try:
            await layer.group_add(group, channel)
            self.joined.set()
            self.tell(Grown(self.conversation_pk))  # what was hinted at before was not heard
            await reader
        finally:
            reader.cancel()
            await asyncio.wait([reader])
            await layer.group_discard(group, channel)

    async def _read_hints(self, layer: Any, channel: str) -> None:
        while True:
            hint = await layer.receive(channel)
            self.tell(realtime.heard(hint))

    def tell(self, signal: Signal) -> None:
        """Keep what has grown until the socket has time for it; of a partial reply, the latest.

        Whoever sends something now takes it in before letting go; else a task does.
        """
        is_first = not self.inbox and self.partial is None
        if isinstance(signal, Partial):
            self.partial = signal
        else:
            self.inbox.append(signal)
        if not self.looking.locked() and is_first:
            self._begin(self._follow)

    async def _follow(self) -> None:
        async with self.looking:
            await self._take_in()

    async def _take_in(self) -> None:
        """Send what was handed over; look where something is missing, or may be."""
        while self.inbox or self.partial:
            grown, latest = list(self.inbox), self.partial
            self.inbox.clear()
            self.partial = None
            if not self.greeted or self.closed:
                return
            if grown:
                found = handed.frames(grown, self.view, self.shown, self.last_seq, self.language)
                await self._send_updates(await self._look() if found is None else found)
            if latest is not None and latest.after >= self.answered:
                await self._send({"type": "partial", "after": latest.after, "text": latest.text})

    def compare(self, found: Mapping[watch.SeatOf, watch.Current]) -> None:
        """Look where the database has something else than what was sent.

        What a look did not change is not looked for again at once.
        """
        if not self.greeted or not self.shown or self.closed:
            return
        one = found.get((self.conversation_pk, self.view.side))
        shown = watch.PageState(self.last_seq, self.shown, self.tab)
        differing = frozenset({"person"}) if one is None else one.differences(shown)
        before, at = self.looked_for
        if differing and (differing != before or time.monotonic() - at > lookout.AGAIN):
            self.looked_for = differing, time.monotonic()
            self.tell(Grown(self.conversation_pk))

    async def _look(self) -> list[frames.Answer]:
        """Look at the database; a page whose person has withdrawn is closed."""
        request = updates.UpdateRequest(
            self.slug, self.secret, self.last_seq, self.tab, self.conversation_pk, self.language
        )
        try:
            return await _fetch.ask(request)
        except access.NotFound:  # withdrawn, or the secret was replaced
            await self._close(REFUSED)
            return []

    async def _send_updates(self, answers: list[frames.Answer]) -> None:
        """Send frames: each entry once and in order, the status when it changed."""
        for frame in answers:
            if frame["type"] == "event":
                if frame["seq"] <= self.last_seq:
                    continue
                self.last_seq = frame["seq"]
                if frame["kind"] == "message" and frame["side"] == "partner":
                    self.answered = frame["seq"]
            elif frame["type"] == "status":
                if frame == self.shown:
                    continue
                self.shown = frame
            await self._send(frame)
        await self._send_superseded()
        if self.shown.get("ended"):
            await self._close(ENDED)

    async def _send_superseded(self) -> None:
        superseded = not self.shown.get("tab_is_newest", True)
        if superseded and not self.superseded:
            await self._send({"type": "superseded"})
        self.superseded = superseded

    async def _refuse(self, bad: frames.BadFrame) -> None:
        await self._send(frames.answer_to(bad))
        self.strikes += bad.id is None
        if self.strikes >= STRIKES:
            await self._close(REFUSED)

    def _watch(self) -> None:
        """Close a socket without a hello, and one that fell silent."""
        left = self.heard + IDLE - time.monotonic()
        if not self.greeted or left < 0:
            self._begin(partial(self._close, AWAY if self.greeted else REFUSED))
        else:
            loop = asyncio.get_running_loop()
            self.timer = loop.call_later(left + 0.1, self._watch)

    async def _send(self, frame: frames.Answer) -> None:
        if not self.closed:
            worded = version_1.answer(frame) if self.version == "1" else frame
            text = ENCODER.encode(worded).decode()
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
        realtime.leave(self.conversation_pk, self.tell)
        lookout.here().leave(self)
        if self.timer is not None:
            self.timer.cancel()
        for task in list(self.tasks):
            if task is not asyncio.current_task() and not task.cancelling():
                task.cancel()  # once: a second time would interrupt its leaving of the group
        mine = _sockets[self.person_pk]
        if self in mine:
            mine.remove(self)
        if not mine:
            del _sockets[self.person_pk]
