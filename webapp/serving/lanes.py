"""Lanes of a reply worker: the calls of one system under way, apart from those of all others.

A bot that takes batches has a call at a time for each of its processes, over all that wait; one
that takes none has a call for each job. How many may be under way is the system's own limit
(`at_once`, `processes`): a job without a place stays queued, for this worker or another one.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping
from concurrent.futures import Future
from typing import Any

from bots import Way, bot_options, get_bot, way_of
from webapp import inference
from webapp.children import Children, processes_of
from webapp.services.replies import queue, worker
from webapp.services.replies.batches import Limit

Finished = Callable[["Lane", worker.EndedCall], None]


class Calls:
    """The event loop in which calls of `async` bots wait for their answers."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None

    def begin(self, work: worker.ReplyWork, finished: Callable[[worker.EndedCall], None]) -> None:
        """Begin a call; only one thread at a time may do so first."""
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            threading.Thread(target=self._loop.run_forever, name="calls", daemon=True).start()

        def ended(answer: Future[worker.EndedCall]) -> None:
            finished(answer.result())

        asyncio.run_coroutine_threadsafe(worker.ask_beside(work), self._loop).add_done_callback(
            ended
        )


class Lane:
    """One system of a bot. All but `finished` is called by the thread of its bot alone."""

    def __init__(
        self,
        bot: str,
        options: Mapping[str, Any],
        children: Children | None,
        calls: Calls,
        finished: Finished,
    ) -> None:
        self.bot = bot
        self.options = dict(options)
        self.limit = Limit()
        self.is_loading = False
        self._children = children
        self._calls = calls
        self._finished = finished
        self._under_way = 0
        self._again: deque[worker.ReplyWork] = deque()

    @property
    def way(self) -> Way:
        """The way of calling: of what has no process of its own, batches or `async`."""
        if self._children is not None:
            return self._children.way(self.bot, self.options)
        if inference.needs_own_process(self.bot):
            return "batch"  # and is not to be loaded by this thread
        try:
            return "async" if way_of(get_bot(self.bot, **self.options)) == "async" else "batch"
        except Exception:
            return "batch"  # the call will say what is wrong

    @property
    def most_calls(self) -> int:
        """The most calls under way."""
        processes = 1 if self._children is None else processes_of(self.options)
        if self.way != "async":
            return processes
        defaults = {each.name: each.default for each in bot_options(self.bot)}
        return processes * int(self.options.get("at_once", defaults.get("at_once", 1)))

    @property
    def has_own_loop(self) -> bool:
        return self._children is None and self.way == "async"

    @property
    def free(self) -> int:
        """How many calls may begin now."""
        return 0 if self.is_loading else self.most_calls - self._under_way - len(self._again)

    def claim(self, owner: str, systems: Collection[int]) -> Iterator[worker.ReplyWork]:
        """Claim what there is a place for, until no more waits; each is begun before the next."""
        more = True
        while more and (free := self.free) > 0:
            is_batch = self.way == "batch"
            most = self.limit.now if is_batch else min(free, queue.BATCH)
            found = worker.claim_of(systems, bot=self.bot, owner=owner, most=most)
            more = found.jobs == most
            for work in found.works:
                yield from [work] if is_batch else work.one_by_one()

    def begin(self, work: worker.ReplyWork) -> None:
        """Call the bot, apart from this thread."""
        self._under_way += 1
        if self.has_own_loop:
            self._calls.begin(work, self._end)
        else:
            threading.Thread(target=self._ask, args=(work,), name=self.bot, daemon=True).start()

    def ended(self) -> None:
        """Free the place of a call that was settled."""
        self._under_way -= 1

    def ask_again(self, works: Collection[worker.ReplyWork]) -> None:
        """Call for these when there is a place, before anything else is claimed."""
        self._again.extend(works)

    def begin_waiting(self) -> None:
        """Begin the calls that are to be made anew, as far as there are places."""
        while self._again and not self.is_loading and self._under_way < self.most_calls:
            self.begin(self._again.popleft())

    def load(self) -> None:
        """Load the system in its processes, or raise what `Children.warm_up` raises."""
        if self._children is not None:
            self._children.warm_up(self.bot, self.options)

    def _ask(self, work: worker.ReplyWork) -> None:
        children = self._children
        if children is None:
            self._end(worker.ask(work, inference.respond_here))
        elif work.growing:
            self._end(worker.ask_growing(work, children.respond))
        else:
            self._end(worker.ask(work, children.respond))

    def _end(self, ended_call: worker.EndedCall) -> None:
        self._finished(self, ended_call)
