"""Batches of what sockets ask: together where possible, and nobody waits for a slow one (R29)."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence

import pytest

from webapp.sockets.batching import LARGEST, SLOW, Gatherer

PATIENCE = 20.0  # seconds; nothing here takes one
BAD = 1_000_000


class Work:
    """Doubles numbers; remembers its batches; waits for "slow" ones until it is let go."""

    def __init__(self) -> None:
        self.batches: list[list[int]] = []
        self.slow: set[int] = set()
        self.early: set[int] = set()  # begun before the slow ones were let go
        self.free = threading.Event()
        self.held = threading.Semaphore(0)

    def __call__(self, items: Sequence[int]) -> Sequence[int | Exception]:
        self.batches.append(list(items))
        if not self.free.is_set():
            self.early |= {*items}
        if self.slow & {*items}:
            self.held.release()
            assert self.free.wait(PATIENCE)
        if BAD in items:
            raise ZeroDivisionError
        return [ValueError(item) if item < 0 else 2 * item for item in items]

    async def wait_held(self, count: int) -> None:
        """Return when so many batches are waiting."""
        for _ in range(count):
            assert await asyncio.to_thread(self.held.acquire, timeout=PATIENCE)


async def _all(gatherer: Gatherer[int, int], items: Sequence[int]) -> list[int | BaseException]:
    asked = [gatherer.ask(item) for item in items]
    return await asyncio.wait_for(asyncio.gather(*asked, return_exceptions=True), PATIENCE)


async def test_those_that_come_while_one_runs_are_one_batch_in_order() -> None:
    work = Work()
    assert await _all(Gatherer(work, at_once=2), [1, 2, 3]) == [2, 4, 6]
    assert work.batches == [[1], [2, 3]]


async def test_each_gets_its_own_result_or_problem() -> None:
    found = await _all(Gatherer(Work(), at_once=2), [1, -2, 3])
    assert [type(each) for each in found] == [int, ValueError, int]


async def test_who_is_to_blame_for_a_failed_batch_fails_alone() -> None:
    found = await _all(Gatherer(Work(), at_once=2), [1, 2, BAD, 4])
    assert [type(each) for each in found] == [int, int, ZeroDivisionError, int]


@pytest.mark.parametrize("count", [LARGEST - 1, LARGEST, LARGEST + 1])
async def test_a_batch_has_a_largest_size(count: int) -> None:
    work = Work()
    await _all(Gatherer(work, at_once=2), [0, *range(count)])
    sizes = [len(batch) for batch in work.batches]
    assert sizes == [1, min(count, LARGEST)] + [1] * (count > LARGEST)


@pytest.mark.parametrize("slow", [1, 2, 3])
async def test_a_slow_query_holds_up_nobody_else_while_threads_are_left(slow: int) -> None:
    """Of three at once, one and two slow ones leave a way; at three all wait until one is done."""
    work = Work()
    work.slow = {*range(101, 101 + slow)}
    gatherer: Gatherer[int, int] = Gatherer(work, at_once=3)
    held = []
    for item in sorted(work.slow):
        held.append(asyncio.ensure_future(gatherer.ask(item)))
        await work.wait_held(1)
    quick = asyncio.ensure_future(gatherer.ask(5))
    if slow < 3:
        assert await asyncio.wait_for(quick, PATIENCE) == 10
        assert not any(each.done() for each in held)
    await asyncio.sleep(2 * SLOW)  # another one may begin when the last has taken so long
    work.free.set()
    assert await asyncio.wait_for(asyncio.gather(*held), PATIENCE) == [
        2 * each for each in sorted(work.slow)
    ]
    assert await asyncio.wait_for(quick, PATIENCE) == 10
    assert (5 in work.early) == (slow < 3)
