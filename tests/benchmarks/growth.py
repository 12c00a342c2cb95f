"""Paced participants in one process, more and more: what messages take, and what the process holds.

    python -m tests.benchmarks.growth [--people 100 300 1000 2000] [--pause 10] [--seconds 30]
                                      [--at /dev/shm] [--no-stock]

Pairs talk over real sockets, one message of a pair each `--pause` seconds, its time drawn; client
and server share the machine. First everybody is silent for some seconds: memory and CPU of that
time are those of idle sockets. Beside it a stock Channels app under uvicorn has as many sockets,
idle and then at the same pace. Ack is the sender's, partner until the message is on the partner's
screen. KB a socket: what the process grew by since nobody was there, divided by the sockets.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import tempfile
from argparse import Namespace
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path

import uvloop

from tests.benchmarks.relay import PARLEY, SERVED, Way, parley, running, stock
from tests.benchmarks.talkers import enter, idle_share, megabytes, percentiles, stay, talk
from tests.live import ROOT, environment

SETTLED = 4.0  # seconds until what it takes to come in is over


async def measure(way: Way, people: int, given: Namespace) -> str:
    """Return a row of the table."""
    doors = await asyncio.to_thread(way.doors, people)
    before = megabytes(way.pid)
    pairs = await enter(doors, greets=way.greets)
    staying = asyncio.create_task(stay(pairs)) if way.greets else None
    await asyncio.sleep(SETTLED)
    idle = await idle_share([way.pid], given.idle)
    held = megabytes(way.pid)
    found = await talk(pairs, given.seconds, pause=given.pause, servers=[way.pid])
    after = megabytes(way.pid)
    if staying:
        staying.cancel()
    for side in (side for pair in pairs for side in pair.sides):
        side.leave()
    times = " ".join(
        " ".join(f"{each:7.1f}" for each in percentiles([kind])).rjust(24)
        for kind in (found.acks, found.partners)
    )
    return (
        f"{way.name:24} {people:7} {found.rate:11.1f} {times} {100 * idle:7.1f} "
        f"{100 * found.cpu / found.seconds:7.1f} {1024 * (held - before) / people:12.1f}"
        f" {after:8.0f}"
    )


def main() -> None:
    given = _given()
    times = " ".join(f"{what + ' ms p50 p95 p99':>24}" for what in ("ack", "partner"))
    heads = (
        f"{'people':>7} {'messages/s':>11} {times} {'idle %':>7} {'CPU %':>7} {'KB a socket':>12}"
    )
    print(f"load {os.getloadavg()[0]:.1f}\n{'':24} {heads} {'MB':>8}")
    for people in given.people:
        for name in ("Parley", "stock Channels, uvicorn")[: 1 + given.stock]:
            with ExitStack() as stack:  # a process that nobody was in before
                way = _way(name, stack, given.at, people)
                print(uvloop.run(measure(way, people, given)), flush=True)
    print(f"load {os.getloadavg()[0]:.1f}")


def _way(name: str, stack: ExitStack, place: Path, people: int) -> Way:
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=place)))
    if name == "Parley":
        env = environment(folder, **SERVED)
        doors = parley(ROOT, env, [0], people)  # before the server is there, which would wait
        pid, port = stack.enter_context(running(("-c", PARLEY), ROOT, env))
        seated = [(replace(one, port=port), replace(two, port=port)) for one, two in doors]
        return Way(name, pid, lambda _: seated, True)
    command = ("-m", "tests.benchmarks.stock_channels", "uvicorn")
    pid, port = stack.enter_context(running(command, ROOT, environment(folder)))
    return Way(name, pid, partial(stock, port), False)


def _given(words: Sequence[str] | None = None) -> Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", type=int, nargs="+", default=[100, 300, 1000, 2000])
    parser.add_argument("--pause", type=float, default=10.0, help="between messages of a pair")
    parser.add_argument("--seconds", type=float, default=30.0, help="in which they are counted")
    parser.add_argument("--idle", type=float, default=10.0, help="seconds of silence before")
    place = Path("/dev/shm")  # noqa: S108 (a folder in it is made)
    parser.add_argument("--at", type=Path, default=place if place.is_dir() else None)
    parser.add_argument("--no-stock", dest="stock", action="store_false")
    return parser.parse_args(words)


if __name__ == "__main__":
    main()
