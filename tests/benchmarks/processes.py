"""Two web processes on PostgreSQL and Redis beside one: messages, CPU, and the longest delay.

    python -m tests.benchmarks.processes [--sockets 100] [--rounds 3] [--seconds 5] [--pause 0]

Pairs talk in turn over real sockets: all at one process; both sides of a pair at the same of two
processes; each side at another one, where a message travels by a hint of Redis and a look at the
database. Asked: two processes at least 1.8 times one, no delay above 200 ms over 100,000 messages,
on a machine that has a core for each process and one for PostgreSQL; CPU a message, of the web
processes together, says how near that is on one that has not: twice the cores do 2 / (its growth)
times the messages.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import tempfile
from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import uvloop

from tests.benchmarks.relay import IDLE, PARLEY, SERVED, parley, running
from tests.benchmarks.talkers import Door, Found, enter, idle_share, percentiles, stay, talk
from tests.live import ROOT, environment
from tests.servers import postgresql, redis_server

Two = tuple[Door, Door]
LATE = 0.2  # seconds


def at_one(number: int, two: Two, ports: Sequence[int]) -> Two:
    return replace(two[0], port=ports[0]), replace(two[1], port=ports[0])


def together(number: int, two: Two, ports: Sequence[int]) -> Two:
    port = ports[number % 2]
    return replace(two[0], port=port), replace(two[1], port=port)


def apart(number: int, two: Two, ports: Sequence[int]) -> Two:
    return replace(two[0], port=ports[0]), replace(two[1], port=ports[1])


WAYS: dict[str, Callable[[int, Two, Sequence[int]], Two]] = {
    "one process": at_one,
    "two, pairs at the same": together,
    "two, each side at another": apart,
}


async def measure(
    env: Mapping[str, str], servers: Sequence[tuple[int, int]], given: Namespace
) -> dict[str, list[Found]]:
    """Measure all ways in turn, with people of their own."""
    pids, ports = zip(*servers, strict=True)
    pairs = {}
    for name, way in WAYS.items():
        doors = await asyncio.to_thread(parley, ROOT, env, ports, given.sockets)
        seated = [way(number, two, ports) for number, two in enumerate(doors)]
        pairs[name] = await enter(seated, greets=True)
    staying = [asyncio.create_task(stay(each)) for each in pairs.values()]
    idle = await idle_share(pids, IDLE)
    found: dict[str, list[Found]] = {name: [] for name in WAYS}
    for name in list(WAYS) * given.rounds:
        one = await talk(pairs[name], given.seconds, pause=given.pause, servers=pids, idle=idle)
        found[name].append(one)
    for task in staying:
        task.cancel()
    return found


def main() -> None:
    given = _given()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        database = stack.enter_context(postgresql())
        redis = stack.enter_context(redis_server())
        env = environment(folder, DATABASE_URL=database, REDIS_URL=redis, **SERVED)
        parley(ROOT, env, [0], 2)  # the database has to be there
        servers = [stack.enter_context(running(("-c", PARLEY), ROOT, env)) for _ in range(2)]
        found = uvloop.run(measure(env, servers, given))
    heads = f"{'messages/s':>11} {'CPU ms a message':>17} {'partner ms p50 p95 p99':>24}"
    print(f"{given.sockets} sockets, load {os.getloadavg()[0]:.1f}")
    print(f"{'':26} {heads} {'max ms':>8} {'> 200 ms':>9} {'messages':>9}")
    for name, rounds in found.items():
        print(_row(name, rounds), flush=True)


def _row(name: str, rounds: Sequence[Found]) -> str:
    cost = statistics.median(
        1000 * (one.cpu - one.idle * one.seconds) / len(one.partners) for one in rounds
    )
    took = [seconds for one in rounds for seconds in one.partners]
    times = " ".join(f"{each:7.1f}" for each in percentiles([one.partners for one in rounds]))
    return (
        f"{name:26} {statistics.median(one.rate for one in rounds):11.0f} {cost:17.2f} {times:>24}"
        f" {1000 * max(took):8.0f} {sum(each > LATE for each in took):9} {len(took):9}"
    )


def _given() -> Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sockets", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=5.0, help="of each round")
    parser.add_argument("--pause", type=float, default=0.0, help="between messages of a pair")
    return parser.parse_args()


if __name__ == "__main__":
    main()
