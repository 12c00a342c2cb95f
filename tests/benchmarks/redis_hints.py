"""Delivery times between two people where hints travel through Redis, and how many come late.

    python -m tests.benchmarks.redis_hints [--pairs 10] [--messages 16] [--rounds 1] [--pauses 0 20]

A real PostgreSQL, a real Redis and one web process. Pairs talk in turn over real sockets: whoever
was answered waits for the pause and sends the next message. Time is from the sending of a message
until it is on the partner's screen. A hint that is dropped is not lost, but waits for the next look
of the socket, after 4 to 6 s: such a delivery is late. Asked: none later than 1 s, none later than
200 ms on a machine that does nothing else.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import statistics
import tempfile
import time
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

from tests.live import Client, Server, Study, environment
from tests.servers import postgresql, redis_server

LATE = 1.0  # seconds
MOST = 60  # messages of a pair: a socket may send 30 a minute


async def converse(
    server: Server, study: Study, pair: int, sizes: Namespace, pause: float
) -> list[float]:
    """Let two people talk in turn; return the seconds that each message took."""
    both = [Client(server, study, 2 * pair + side) for side in (0, 1)]
    for client in both:
        await (await client.connect()).hello()
    took = []
    for number in range(sizes.messages):
        sender, partner = both[number % 2], both[1 - number % 2]
        started = time.perf_counter()
        await sender.send_message(f"This is number {number}.")
        await partner.reply()
        took.append(time.perf_counter() - started)
        await asyncio.sleep(pause)
    for client in both:
        await client.close()
    return took


async def crowd(server: Server, study: Study, sizes: Namespace, pause: float) -> list[float]:
    """Let all pairs talk at once; return the seconds of all their messages."""
    pairs = (converse(server, study, pair, sizes, pause) for pair in range(sizes.pairs))
    return [seconds for took in await asyncio.gather(*pairs) for seconds in took]


def measure(server: Server, sizes: Namespace, pause: float) -> str:
    """Return a row of the table; each round has people of its own."""
    from tests import live

    took: list[float] = []
    lasted = 0.0
    for _ in range(sizes.rounds):
        people = 2 * sizes.pairs
        found = live._seed(protocol="personachat_human", bot="people", people=people)
        study = Study(found["slug"], tuple(found["secrets"]))
        started = time.perf_counter()
        took += asyncio.run(crowd(server, study, sizes, pause))
        lasted += time.perf_counter() - started
    late = sum(seconds > LATE for seconds in took)
    middle, p99 = statistics.median(took), statistics.quantiles(took, n=100, method="inclusive")[98]
    times = " ".join(f"{1000 * seconds:8.0f}" for seconds in (middle, p99, max(took)))
    return f"{1000 * pause:8.0f} {len(took):9} {late:6} {times} {len(took) / lasted:11.0f}"


def main() -> None:
    sizes = _sizes()
    with tempfile.TemporaryDirectory() as folder, postgresql() as database, redis_server() as redis:
        env = environment(Path(folder), DATABASE_URL=database, REDIS_URL=redis)
        os.environ.update(env, DJANGO_SETTINGS_MODULE="webapp.settings")
        import django
        from django.core.management import call_command

        django.setup()
        call_command("migrate", verbosity=0, skip_checks=True)
        server = Server(env)
        server.start()
        try:
            _print(server, sizes)
        finally:
            server.kill(signal.SIGTERM)


def _print(server: Server, sizes: Namespace) -> None:
    heads = f"{'median':>8} {'p99':>8} {'max ms':>8} {'messages/s':>11}"
    print(f"{sizes.pairs} pairs\n{'pause ms':>8} {'messages':>9} {'> 1 s':>6} {heads}")
    for pause in sizes.pauses:
        print(measure(server, sizes, pause / 1000), flush=True)


def _sizes(given: Sequence[str] | None = None) -> Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--messages", type=int, default=16, help="of each pair in a round")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--pauses", type=float, nargs="+", default=[0, 20, 50], help="in ms")
    sizes = parser.parse_args(given)
    if not 2 <= sizes.messages <= MOST:
        parser.error(f"--messages {sizes.messages}: must be 2 to {MOST}; take more --rounds")
    return sizes


if __name__ == "__main__":
    main()
