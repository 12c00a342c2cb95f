"""Durable relay: Parley and a stock Channels app with one insert a message, in turn in one run.

    python -m tests.benchmarks.relay [--sockets 2 10 50 200] [--rounds 5] [--seconds 3]
                                     [--at /dev/shm /var/tmp] [--pause 1] [--parley DIR ...]
                                     [--otree PYTHON]

Pairs talk in turn over real sockets, each message of about 60 characters sent as soon as the one
before it was acknowledged and came, or `--pause` seconds after the last one; client and server
share the machine, and the limit of messages per minute is lifted. The stock app is the consumer of
Channels' tutorial with one insert before its `group_send`, an acknowledgement after it and the
in-memory layer, under uvicorn and under daphne; its SQLite is durable as Parley's is: WAL,
synchronous FULL. `--at` are the folders of the databases, such as one in memory and one on a disk.
`--parley` also measures other checkouts, such as one of before. `--otree` names an interpreter that
has oTree, whose live page (`otree_chat`) is measured, too: on its default database, in memory.

Rows are medians of the rounds, with the least and the most. What a core could do is counted in
seconds of CPU of the server, less what it takes while nobody writes, which other work on the
machine changes little; ack is the sender's, partner until the message is on the partner's screen.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from urllib.parse import urlencode
from urllib.request import urlopen
from uuid import uuid4

import uvloop

from tests.benchmarks.talkers import Door, Found, Pair, enter, idle_share, percentiles, stay, talk
from tests.live import ROOT, environment, wait_for_port
from tests.servers import free_port

PARLEY = (
    "import sys, uvicorn, webapp.asgi; from webapp.services.participation import limits\n"
    "limits.PER_MINUTE = dict.fromkeys(limits.PER_MINUTE, 10**9)\n"
    "uvicorn.run('webapp.asgi:application', port=int(sys.argv[1]), lifespan='on',"
    " log_level='warning', access_log=False, ws_per_message_deflate=False)"
)
WRAPPED = b'{"otree_success": true, "live_method_payload": '  # before what a live page answers
IDLE = 3.0  # seconds for what a server takes while nobody writes
SERVED = {  # as a server has it: in development Django notes each statement
    "DEBUG": "0",
    "SECRET_KEY": "of no server, and as long as such a key must be: fifty characters",
    "ALLOWED_HOSTS": "127.0.0.1",
    "SSL_REDIRECT": "0",
}
Doors = Callable[[int], "list[tuple[Door, Door]]"]


@dataclass(frozen=True)
class Way:
    """A server that runs, and how to make people for it."""

    name: str
    pid: int
    doors: Doors
    greets: bool


@contextmanager
def running(
    command: Sequence[str], folder: Path, env: Mapping[str, str], python: str = sys.executable
) -> Iterator[tuple[int, int]]:
    """Start a server and wait until it answers; yields its process and port, and ends it."""
    port = free_port()
    server = subprocess.Popen([python, *command, str(port)], cwd=folder, env=env)
    try:
        wait_for_port(port, server)
        yield server.pid, port
    finally:
        server.send_signal(signal.SIGTERM)
        try:
            server.wait(15)
        except subprocess.TimeoutExpired:
            server.kill()


def parley(
    checkout: Path, env: Mapping[str, str], ports: Sequence[int], sockets: int
) -> list[tuple[Door, Door]]:
    """Seed people of a checkout's database who talk in pairs, over these servers in turn."""
    wanted = {"protocol": "personachat_human", "bot": "people", "people": sockets}
    command = [sys.executable, "-m", "tests.live", "seed", json.dumps(wanted)]
    done = subprocess.run(
        command, cwd=checkout, env=env, check=True, capture_output=True, text=True
    )
    study = json.loads(done.stdout.splitlines()[-1])
    path = f"/c/{study['slug']}/socket?version=2"
    found = [
        Door(ports[number % len(ports)], path, f"__Host-parley-{study['slug']}={secret}")
        for number, secret in enumerate(study["secrets"])
    ]
    return list(zip(found[::2], found[1::2], strict=True))


def stock(port: int, sockets: int) -> list[tuple[Door, Door]]:
    rooms = (Door(port, f"/{uuid4().hex}") for _ in range(sockets // 2))
    return [(room, room) for room in rooms]


def otree(folder: Path, port: int, sockets: int) -> list[tuple[Door, Door]]:
    """Open the page of the next people of oTree's session, as their browsers would."""
    file = folder / "codes.json"
    codes = json.loads(file.read_text())
    mine, codes["people"] = codes["people"][:sockets], codes["people"][sockets:]
    file.write_text(json.dumps(codes))
    found = []
    for code in mine:
        with urlopen(f"http://127.0.0.1:{port}/InitializeParticipant/{code}") as page:
            page.read()
        about = {"session_code": codes["session"], "page_index": 1, "page_name": "Talk"}
        query = urlencode({**about, "participant_code": code})
        found.append(Door(port, f"/live?{query}", before=WRAPPED))
    return list(zip(found[::2], found[1::2], strict=True))


def main() -> None:
    given = _given()
    for place in given.at:
        with ExitStack() as stack:
            ways = list(_ways(stack, place, given))
            for sockets in given.sockets:
                found = uvloop.run(_measure(ways, sockets, given))
                _print(f"{sockets} sockets, {place}", found)


def _ways(stack: ExitStack, place: Path, given: Namespace) -> Iterator[Way]:
    for checkout in (ROOT, *given.parley):
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=place)))
        env = environment(folder, **SERVED)
        parley(checkout, env, [0], 2)  # the database has to be there
        pid, port = stack.enter_context(running(("-c", PARLEY), checkout, env))
        yield Way(f"Parley {checkout.name}", pid, partial(parley, checkout, env, [port]), True)
    for server in given.stock:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=place)))
        command = ("-m", "tests.benchmarks.stock_channels", server)
        pid, port = stack.enter_context(running(command, ROOT, environment(folder)))
        yield Way(f"stock Channels, {server}", pid, partial(stock, port), False)
    if given.otree:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=place)))
        script = (str(ROOT / "tests/benchmarks/otree_chat.py"), str(sum(given.sockets)))
        started = running(script, folder, environment(folder), given.otree)
        pid, port = stack.enter_context(started)
        yield Way("oTree, in memory", pid, partial(otree, folder, port), False)


async def _measure(ways: Sequence[Way], sockets: int, given: Namespace) -> dict[str, list[Found]]:
    """Measure all ways in turn; who does not talk stays connected."""
    pairs: dict[Way, list[Pair]] = {}
    staying = []
    for way in ways:
        pairs[way] = await enter(await asyncio.to_thread(way.doors, sockets), greets=way.greets)
        if way.greets:
            staying.append(asyncio.create_task(stay(pairs[way])))
    idle = {way: await idle_share([way.pid], IDLE) for way in ways}
    found: dict[str, list[Found]] = {way.name: [] for way in ways}
    for way in [way for _ in range(given.rounds) for way in ways]:
        one = await talk(
            pairs[way], given.seconds, pause=given.pause, servers=[way.pid], idle=idle[way]
        )
        found[way.name].append(one)
    for task in staying:
        task.cancel()
    for pair in (pair for each in pairs.values() for pair in each):
        for side in pair.sides:
            side.leave()
    return found


def _print(title: str, found: Mapping[str, Sequence[Found]]) -> None:
    times = " ".join(f"{what + ' ms p50 p95 p99':>24}" for what in ("ack", "partner"))
    heads = f"{'messages/s':>21} {'a core':>7} {'(least, most)':>16} {times}"
    print(f"\n{title}, load {os.getloadavg()[0]:.1f}\n{'':24} {heads}")
    for name, rounds in found.items():
        rates, cores = [one.rate for one in rounds], [one.rate_of_core for one in rounds]
        spread = " ".join(
            " ".join(f"{each:7.1f}" for each in percentiles(kind)).rjust(24)
            for kind in ([one.acks for one in rounds], [one.partners for one in rounds])
        )
        print(
            f"{name:24} {_spread(rates):>21} {statistics.median(cores):7.0f}"
            f" {f'({min(cores):.0f}, {max(cores):.0f})':>16} {spread}",
            flush=True,
        )
    own, *rivals = ((name, rounds) for name, rounds in found.items())
    for name, rounds in rivals:
        ratios = (
            statistics.median(getattr(one, kind) for one in own[1])
            / statistics.median(getattr(one, kind) for one in rounds)
            for kind in ("rate", "rate_of_core")
        )
        print(f"  {{:.2f}}x {name}, a core {{:.2f}}x".format(*ratios))


def _spread(values: Sequence[float]) -> str:
    return f"{statistics.median(values):.0f} ({min(values):.0f}, {max(values):.0f})"


def _given() -> Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sockets", type=int, nargs="+", default=[2, 10, 50, 200])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=3.0, help="of each round")
    parser.add_argument("--pause", type=float, default=0.0, help="between messages of a pair")
    places = [Path("/dev/shm"), Path("/var/tmp")]  # noqa: S108 (a folder in it is made)
    parser.add_argument("--at", type=Path, nargs="+", default=[p for p in places if p.is_dir()])
    parser.add_argument("--parley", type=Path, nargs="*", default=[], help="other checkouts")
    parser.add_argument("--stock", nargs="*", default=["uvicorn", "daphne"], help="rivals")
    parser.add_argument("--otree", default="", help="an interpreter that has oTree")
    given = parser.parse_args()
    if any(count < 2 or count % 2 for count in given.sockets):
        parser.error("--sockets: even numbers from 2")
    return given


if __name__ == "__main__":
    main()
