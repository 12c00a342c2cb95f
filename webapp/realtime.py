"""Committed entries, handed to this process's followers; others get hints (R8, R11).

Between processes there are numbers and names only; but for the text of partial replies where the
deployer lets it go through Redis (PARTIALS_BY_REDIS), which keeps none of it. Losing it all costs
seconds, never data. Whoever writes waits for none of it. Followers are told, and hints to browsers
sent, on the event loop that serves the sockets (or on one in the background, where this process
serves none); those to reply workers go to a worker of this process, else to a thread that hands
them to the broker.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from channels.layers import get_channel_layer
from django.conf import settings
from django.db import transaction

if TYPE_CHECKING:
    from celery import Celery

log = logging.getLogger(__name__)
PATIENCE = 0.5  # seconds that one hint may take (R11)
MOST_JOBS = 1000  # of one task
lost: Counter[str] = Counter()  # counted, never raised: the database is the only truth

_serving: asyncio.AbstractEventLoop | None = None
_sending: set[asyncio.Future[None]] = set()
_listener: Callable[[str], None] | None = None
_computer: Callable[[str], None] | None = None
_lock = threading.Lock()


@dataclass(frozen=True)
class Grown:
    """A conversation that has grown to `seq`; 0 asks its followers to look for anything else.

    `entry` is what was committed, where it may be shown without a look. It stays in this process.
    """

    conversation: int
    seq: int = 0
    entry: Any = None


@dataclass(frozen=True)
class Partial:
    """What the reply to entry `after` of a conversation has grown to; "" where it vanishes."""

    conversation: int
    after: int
    text: str


Signal = Grown | Partial
Follower = Callable[[Signal], None]
_followers: dict[int, list[Follower]] = {}  # of this process, by conversation


def group(conversation_id: int) -> str:
    """Return the name of a conversation's group in the channel layer."""
    return f"conversation.{conversation_id}"


def serve_on(loop: asyncio.AbstractEventLoop) -> None:
    """Tell followers on this loop: it serves the sockets, and the layer belongs to it."""
    global _serving
    _serving = loop
    if settings.REDIS_URL:
        _outbox()  # loads the broker's library before the first hint


def follow(conversation_id: int, follower: Follower) -> None:
    """Have a follower told on the loop that serves the sockets; it must not wait."""
    _followers.setdefault(conversation_id, []).append(follower)


def leave(conversation_id: int, follower: Follower) -> None:
    """Tell a follower no more."""
    left = [each for each in _followers.pop(conversation_id, ()) if each != follower]
    if left:
        _followers[conversation_id] = left


def tell(grown: Sequence[Signal]) -> None:
    """Hand what was committed, or grows, to this process's followers; signal it to others."""
    serving = _serving
    if serving is None or not serving.is_running():
        if not settings.CHANNEL_LAYERS:
            return  # nobody else could hear it
        serving = _background()
    serving.call_soon_threadsafe(_tell, grown)


def tell_on_commit(grown: Sequence[Grown]) -> None:
    """Tell once the transaction that wrote the entries has committed."""
    if grown:
        transaction.on_commit(partial(tell, grown), robust=True)


def hand(grown: Sequence[Signal]) -> None:
    """Hand what was committed, or is growing, to this process's followers, in order."""
    for one in grown:
        for follower in _followers.get(one.conversation, ()):
            follower(one)


def heard(message: Mapping[str, Any]) -> Signal:
    """Return what a message of the layer tells."""
    if message["type"] == "partial":
        return Partial(message["conversation"], message["after"], message["text"])
    return Grown(message["conversation"], message["seq"])


def _message(one: Signal) -> dict[str, Any]:
    if isinstance(one, Partial):
        return {"type": "partial", **asdict(one)}
    return {"type": "hint", "conversation": one.conversation, "seq": one.seq}


def _tell(grown: Sequence[Signal]) -> None:
    hand(grown)
    if settings.CHANNEL_LAYERS:
        for one in grown:
            if isinstance(one, Partial) and not settings.PARTIALS_BY_REDIS:
                continue
            sending = asyncio.ensure_future(_send(one))
            _sending.add(sending)  # else nothing would hold it
            sending.add_done_callback(_sending.discard)


async def _send(one: Signal) -> None:
    try:
        sending = get_channel_layer().group_send(group(one.conversation), _message(one))
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


def compute(listener: Callable[[str], None] | None) -> None:
    """Let what computes results in this process hear of which subject one is wanted."""
    global _computer
    _computer = listener


def want_on_commit(subject: str) -> None:
    """Tell, once the transaction has committed, that a result of a subject is wanted."""
    if _computer is not None:
        transaction.on_commit(partial(_computer, subject), robust=True)


class HintOutbox(threading.Thread):
    """Hands calls to the broker: a task to one worker of the bot, and a word to all of them.

    Jobs of one system that wait together are one task.
    """

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
        from webapp.celery import app  # 0.2 s of each start, where there is a broker

        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._jobs)
                (bot, system), jobs = next(iter(self._jobs.items()))
                del self._jobs[bot, system]
            try:
                app.send_task("answer", [bot, jobs], queue=f"bot.{bot}", retry=False)
                wake_all(app, bot)
            except Exception as problem:  # a broker may fail in any way; workers poll as well
                _lose("worker", problem)


def wake_all(app: Celery, bot: str) -> None:
    """Tell all workers of a bot by the control command `wake`; fails where the broker is away.

    `app.control.broadcast` says the same, but tries for ever where the broker went away since the
    last word, and no other hint would be sent meanwhile.
    """
    word = {"method": "wake", "arguments": {"bot": bot}, "destination": None}
    exchange, clock = app.control.mailbox.exchange, app.clock.forward()
    with app.producer_or_acquire() as producer:
        producer.publish(
            word,
            exchange=exchange.name,
            declare=[exchange],
            headers={"clock": clock, "expires": 0},
            serializer="json",
            retry=False,
        )


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
