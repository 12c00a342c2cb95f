"""The child processes of a reply worker: one or more for each system, as memory allows.

Each tells how much memory it holds. Where they hold more than the budget together, the one that
was not used for longest is ended: ending a process is what surely gives memory back. One that is
larger than the budget runs alone. Once one of them has imported torch, new ones are forked from a
process that has: one that was lost is there again without the import (docs/decisions/0077).
"""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from bots import Turn, Way
from bots.footprint import Footprint
from bots.guards.growing import Growing
from webapp.inference import PATIENCE, Answers, Child, begin_nursery, begin_process
from webapp.pipes import Nursery, Process

NOTHING = Footprint(0.0, 0.0)


@dataclass(frozen=True)
class Budget:
    """Megabytes that all children may hold together; 0 is no limit."""

    machine: float = 0.0
    device: float = 0.0

    def exceeded(self, held: Footprint) -> bool:
        return (0 < self.machine < held.machine) or (0 < self.device < held.device)


@dataclass
class _Held:
    bot: str
    child: Child
    users: int = 0
    size: Footprint = field(default=NOTHING)


class Children:
    """Bots in child processes, the last used ones first to stay; `processes` of a system each."""

    def __init__(self, budget: Budget | None = None, patience: float = PATIENCE) -> None:
        self._budget = budget or Budget()
        self._patience = patience
        self._held: OrderedDict[str, _Held] = OrderedDict()
        self._sizes: dict[str, Footprint] = {}  # of all that were ever loaded
        self._ways: dict[str, Way] = {}
        self._lock = threading.Lock()
        self._nursery: Nursery | None = None
        self._closed = False

    def respond(
        self,
        name: str,
        options: Mapping[str, Any],
        turns: Sequence[Turn],
        growing: Mapping[int, Growing] | None = None,
    ) -> Answers:
        """Answer a batch in the child that holds this bot, starting one if there is none.

        `growing` is told what replies have grown to, as `Child.respond` does.
        """
        with self._using(name, options) as child:
            return child.respond(name, options, turns, growing)

    def warm_up(self, name: str, options: Mapping[str, Any]) -> None:
        """Load a bot before anybody waits for it, in each of its processes."""
        for number in range(processes_of(options)):
            with self._using(name, options, number) as child:
                child.warm_up(name, options)

    def way(self, name: str, options: Mapping[str, Any]) -> Way:
        """Return how a bot is called, which is known once it was loaded; until then, for one."""
        return self._ways.get(_key(name, options), "one")

    @property
    def is_full(self) -> bool:
        """Tell whether another bot would have to replace one that is held."""
        with self._lock:
            return self._budget.exceeded(_total(self._held.values(), more=self._largest()))

    def sizes(self) -> dict[str, list[Footprint]]:
        """Return the memory of what is held, by bot."""
        found: dict[str, list[Footprint]] = {}
        with self._lock:
            for each in self._held.values():
                found.setdefault(each.bot, []).append(each.size)
        return found

    def close(self) -> None:
        """End all; their work under way is lost."""
        with self._lock:
            self._closed = True
            held = list(self._held.values())
            self._held.clear()
            nursery, self._nursery = self._nursery, None
        for each in held:
            each.child.close()
        if nursery is not None:
            nursery.close()

    def _begin(self) -> Process:
        """Start a process, from what has imported what takes long where there is that."""
        nursery = self._nursery
        return (nursery.fork() if nursery else None) or begin_process()

    def _keep_nursery(self, modules: Sequence[str]) -> None:
        """Have a nursery that runs, once a bot was loaded that needs these."""
        if not modules or not Nursery.is_possible():
            return
        with self._lock:
            if self._closed or (self._nursery is not None and self._nursery.runs):
                return
            if self._nursery is not None:
                self._nursery.close()
            self._nursery = begin_nursery(modules)

    @contextmanager
    def _using(
        self, name: str, options: Mapping[str, Any], number: int | None = None
    ) -> Iterator[Child]:
        """Give a process that holds this bot: the one of this number, or the least busy one."""
        key, held = self._take(name, options, number)
        try:
            yield held.child
        finally:
            held.size = held.child.footprint
            with self._lock:
                if held.child.way is not None:
                    self._ways[_key(name, options)] = held.child.way
                held.users -= 1
                if held.size != NOTHING:
                    self._sizes[key] = held.size
            self._free_memory(NOTHING)
            self._keep_nursery(held.child.imported)

    def _take(self, name: str, options: Mapping[str, Any], number: int | None) -> tuple[str, _Held]:
        with self._lock:
            keys = [f"{_key(name, options)} {each}" for each in range(processes_of(options))]
            key = min(keys, key=self._users) if number is None else keys[number]
            is_new = key not in self._held
            if is_new:
                self._held[key] = _Held(name, Child(self._patience, self._begin))
            held = self._held[key]
            held.users += 1
            self._held.move_to_end(key)
            if self._closed:
                held.child.close()
        if is_new:
            self._free_memory(self._sizes.get(key, NOTHING))
        return key, held

    def _users(self, key: str) -> tuple[int, bool]:
        """Return how busy a process is; of idle ones, one that runs comes first."""
        held = self._held.get(key)
        return (held.users, False) if held else (0, True)

    def _free_memory(self, more: Footprint) -> None:
        """End idle children, the one used longest ago first, until all fit beside `more`."""
        gone: list[_Held] = []
        with self._lock:
            idle = [key for key, held in self._held.items() if not held.users]
            while idle and self._budget.exceeded(_total(self._held.values(), more)):
                if len(self._held) == 1 and more == NOTHING:
                    break
                gone.append(self._held.pop(idle.pop(0)))
        for each in gone:
            each.child.close()

    def _largest(self) -> Footprint:
        sizes = self._sizes.values()
        machine = max((each.machine for each in sizes), default=0.0)
        return Footprint(machine, max((each.device for each in sizes), default=0.0))


def processes_of(options: Mapping[str, Any]) -> int:
    """Return the number of processes that a system's option asks for."""
    return int(options.get("processes", 1))


def _key(name: str, options: Mapping[str, Any]) -> str:
    return json.dumps([name, options], sort_keys=True, default=str)


def _total(held: Any, more: Footprint) -> Footprint:
    sizes = [*(each.size for each in held), more]
    return Footprint(sum(each.machine for each in sizes), sum(each.device for each in sizes))
