"""Batches of what sockets ask of the database at the same moment.

No timer: the first one is asked at once; those that come while it runs are the next batch. Work
runs in a pool of threads, so that a slow query holds up its waiters and not the loop (R29).

Apart because it knows nothing of frames, so that it is tested without a socket.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Generic, TypeVar
from weakref import WeakKeyDictionary

from django.db import DatabaseError, InterfaceError, close_old_connections, connection

Item = TypeVar("Item")
Found = TypeVar("Found")
Loop = asyncio.AbstractEventLoop
Waiting = deque[tuple[Item, "asyncio.Future[Found]"]]
POOL = ThreadPoolExecutor(max_workers=16, thread_name_prefix="socket")
LARGEST = 64  # items of one batch
SLOW = 0.1  # seconds; a batch that takes longer is not waited for


async def database(work: Callable[[], Found]) -> Found:
    """Run a service in the pool; its thread keeps its connection, except after trouble."""
    return await asyncio.get_running_loop().run_in_executor(POOL, _connected, work)


def _connected(work: Callable[[], Found]) -> Found:
    if connection.vendor != "sqlite":
        close_old_connections()
    try:
        return work()
    except (DatabaseError, InterfaceError):
        connection.close()
        raise


class Gatherer(Generic[Item, Found]):
    """Asks for many at once: one batch after another, so that each is as large as can be.

    Besides one that takes long, others may be under way, up to `at_once`: nobody waits for a slow
    query of somebody else. `work` returns a result or an exception for each item, in order.
    """

    def __init__(
        self, work: Callable[[Sequence[Item]], Sequence[Found | Exception]], *, at_once: int
    ) -> None:
        self._work = work
        self._at_once = at_once
        self._waiting: WeakKeyDictionary[Loop, Waiting[Item, Found]] = WeakKeyDictionary()
        self._running: WeakKeyDictionary[Loop, dict[asyncio.Task[None], float]] = (
            WeakKeyDictionary()
        )

    async def ask(self, item: Item) -> Found:
        """Return the result for one item, or raise what it got instead."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Found] = loop.create_future()
        self._waiting.setdefault(loop, deque()).append((item, future))
        self._start(loop)
        return await future

    def _start(self, loop: Loop) -> None:
        waiting = self._waiting[loop]
        running = self._running.setdefault(loop, {})
        is_quick = any(loop.time() - began < SLOW for began in running.values())
        if not waiting or is_quick or len(running) >= self._at_once:
            return
        batch = [waiting.popleft() for _ in range(min(LARGEST, len(waiting)))]
        task = loop.create_task(self._run(batch))
        running[task] = loop.time()
        task.add_done_callback(lambda done: self._go_on(loop, done))
        loop.call_later(SLOW, self._start, loop)

    def _go_on(self, loop: Loop, done: asyncio.Task[None]) -> None:
        del self._running[loop][done]
        self._start(loop)

    async def _run(self, batch: Sequence[tuple[Item, asyncio.Future[Found]]]) -> None:
        try:
            results = await database(lambda: self._work([item for item, _ in batch]))
        except Exception as problem:  # propagated to every waiter
            if len(batch) > 1 and not isinstance(problem, DatabaseError | InterfaceError):
                for one in batch:  # one of them may be to blame
                    await self._run([one])
                return
            results = [problem] * len(batch)
        for (_, future), result in zip(batch, results, strict=True):
            if future.done():
                continue  # the waiter is gone
            if isinstance(result, Exception):
                future.set_exception(result)
            else:
                future.set_result(result)
