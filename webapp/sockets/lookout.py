"""One look for all sockets of a process: it finds those that something has changed for (R8).

Idle sockets ask nothing themselves. Once a second one query compares what the database has with
what each socket was told, and notes who gave a sign of life (R9).

Apart because it is the process's, not a socket's.
"""

from __future__ import annotations

import asyncio
import logging
import random
from typing import Protocol
from weakref import WeakKeyDictionary

from django.db import DatabaseError, InterfaceError

from webapp import clock
from webapp.services.conversation import watch
from webapp.sockets.batching import Loop, database

log = logging.getLogger(__name__)
PAUSE = (0.8, 1.2)  # seconds between looks, drawn: processes do not all look at once
AGAIN = 4.0  # seconds until a socket looks again for what its last look did not change


class Watched(Protocol):
    """A socket, as the lookout knows it."""

    person_pk: int
    conversation_pk: int

    def compare(self, found: dict[watch.SeatOf, watch.Current]) -> None:
        """Look where this differs from what was told."""


class Lookout:
    """The sockets of one loop, and who of their people gave a sign of life since the last look."""

    def __init__(self) -> None:
        self._watched: dict[Watched, None] = {}
        self._alive: set[int] = set()
        self._task: asyncio.Task[None] | None = None

    def watch(self, watched: Watched) -> None:
        """Compare a socket until it leaves."""
        self._watched[watched] = None
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._run())

    def leave(self, watched: Watched) -> None:
        """Compare a socket no more."""
        self._watched.pop(watched, None)

    def note(self, person: int) -> None:
        """Note a sign of life, with the next look."""
        self._alive.add(person)

    async def _run(self) -> None:
        while self._watched:
            await asyncio.sleep(random.uniform(*PAUSE))  # noqa: S311 (spreads the load)
            try:
                await self.look()
            except (DatabaseError, InterfaceError) as problem:  # the next look finds it as well
                log.warning("lookout: database trouble: %s", type(problem).__name__)
            except Exception:  # it must not end silently
                log.exception("the lookout failed")
        self._task = None

    async def look(self) -> None:
        """Ask once for all, and let each socket compare."""
        pks = {each.conversation_pk for each in self._watched}
        alive, self._alive = self._alive, set()
        try:
            found = await database(lambda: watch.look(pks, alive, clock.now()))
        except BaseException:
            self._alive |= alive
            raise
        for each in list(self._watched):
            if each.conversation_pk in pks:
                each.compare(found)


_lookouts: WeakKeyDictionary[Loop, Lookout] = WeakKeyDictionary()


def here() -> Lookout:
    """Return the lookout of the running loop."""
    return _lookouts.setdefault(asyncio.get_running_loop(), Lookout())
