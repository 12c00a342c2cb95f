"""Hints: numbers and names only, never text; losing them all costs seconds, never data (R8, R11).

Whoever writes never waits for a hint. Those to browsers are sent on the event loop that serves the
sockets (or on one in the background, where this process serves none); those to reply workers go to
a worker of this process, else to a thread that hands them to the broker.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from channels.layers import get_channel_layer
from django.conf import settings
from django.db import transaction

from webapp.celery import app

log = logging.getLogger(__name__)
PATIENCE = 0.5  # seconds that one hint may take (R11)
MOST_JOBS = 1000  # of one task
lost: Counter[str] = Counter()  # counted, never raised: the database is the only truth

_serving: asyncio.AbstractEventLoop | None = None
_listener: Callable[[str], None] | None = None
_lock = threading.Lock()


def group(conversation_id: int) -> str:
    """Return the name of a conversation's group in the channel layer."""
    return f"conversation.{conversation_id}"


def serve_on(loop: asyncio.AbstractEventLoop) -> None:
    """Send hints on this loop: it serves the sockets, and the layer belongs to it."""
    global _serving
    _serving = loop


def hint(conversation_id: int, seq: int) -> None:
    """Signal to the followers of a conversation that it has grown to `seq`."""
    serving = _serving
    if serving is None or not serving.is_running():
        if settings.EMBEDDED:
            return  # nobody else could hear it
        serving = _background()
    asyncio.run_coroutine_threadsafe(_send(conversation_id, seq), serving)


def hint_on_commit(conversation_id: int, seq: int) -> None:
    """Hint once the transaction that wrote the entry has committed."""
    transaction.on_commit(partial(hint, conversation_id, seq), robust=True)


async def _send(conversation_id: int, seq: int) -> None:
    message: dict[str, Any] = {"type": "hint", "conversation": conversation_id, "seq": seq}
    try:
        sending = get_channel_layer().group_send(group(conversation_id), message)
        await asyncio.wait_for(sending, PATIENCE)
    except Exception as problem:  # the layer may fail in any way; readers poll as well
        _lose("browser", problem)


def listen(listener: Callable[[str], None] | None) -> None:
    """Let a reply worker of this process hear which bot owes replies."""
    global _listener
    _listener = listener


def call(bot: str, system: int, jobs: Sequence[int]) -> None:
    """Signal to a reply worker that a system of this bot owes the replies of these jobs."""
    if _listener is not None:
        _listener(bot)
    elif settings.REDIS_URL:
        _outbox().put(bot, system, jobs)


def call_on_commit(bot: str, system: int, jobs: Sequence[int]) -> None:
    """Call once the transaction that queued the jobs has committed."""
    transaction.on_commit(partial(call, bot, system, jobs), robust=True)


class HintOutbox(threading.Thread):
    """Hands calls to the broker, as tasks. Jobs of one system that wait together are one task."""

    def __init__(self) -> None:
        super().__init__(name="hints", daemon=True)
        self._jobs: dict[tuple[str, int], list[int]] = {}
        self._changed = threading.Condition()

    def put(self, bot: str, system: int, jobs: Sequence[int]) -> None:
        with self._changed:
            waiting = self._jobs.setdefault((bot, system), [])
            waiting += jobs[: MOST_JOBS - len(waiting)]  # more would only make the task longer
            self._changed.notify()

    def run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._jobs)
                (bot, system), jobs = next(iter(self._jobs.items()))
                del self._jobs[bot, system]
            try:
                app.send_task("answer", [bot, jobs], queue=f"bot.{bot}", retry=False)
            except Exception as problem:  # a broker may fail in any way; workers poll as well
                _lose("worker", problem)


def _lose(which: str, problem: Exception) -> None:
    lost[which] += 1
    log.warning("hint to a %s lost: %s", which, type(problem).__name__)


_started: dict[str, Any] = {}


def _outbox() -> HintOutbox:
    with _lock:
        if "outbox" not in _started:
            _started["outbox"] = HintOutbox()
            _started["outbox"].start()
        outbox: HintOutbox = _started["outbox"]
        return outbox


def _background() -> asyncio.AbstractEventLoop:
    with _lock:
        if "loop" not in _started:
            _started["loop"] = asyncio.new_event_loop()
            thread = threading.Thread(target=_started["loop"].run_forever, daemon=True)
            thread.start()
        loop: asyncio.AbstractEventLoop = _started["loop"]
        return loop
