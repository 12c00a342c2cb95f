"""Durable relay: Parley and a stock Channels app with one insert a message, in turn in one run.

    python -m tests.benchmarks.relay [--sockets 2 10 50 200] [--rounds 3] [--seconds 3]
                                     [--parley DIR ...]

Pairs talk in turn over real sockets, each message of about 60 characters sent as soon as the one
before it came; client and server share the machine, and the limit of messages per minute is lifted.
The stock app is the consumer of Channels' tutorial with one insert before its `group_send`, an
acknowledgement after it, the in-memory layer and uvicorn; its SQLite is durable as Parley's is:
WAL, synchronous FULL. `--parley` also measures other checkouts, such as one of before.
Rows are medians of the rounds; ack is the sender's, partner until it is on the partner's screen.
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
import time
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any
from uuid import uuid4

import websockets
from websockets.typing import Origin

from tests.live import ROOT, environment
from tests.servers import free_port

TEXT = "I have been to the seaside with my two dogs, number {}."
WARM = 5  # messages of each pair before it counts
PARLEY = (
    "import sys, uvicorn, webapp.asgi; from webapp.sockets import handshake\n"
    "handshake.MESSAGES = handshake.FRAMES = 10**6\n"
    "uvicorn.run('webapp.asgi:application', port=int(sys.argv[1]), lifespan='on',"
    " log_level='warning', access_log=False, ws_per_message_deflate=False)"
)
STOCK = "-m", "tests.benchmarks.relay", "--stock"
People = Callable[[int], "list[tuple[Side, Side]]"]
MOST = 30.0  # seconds that anything may take


@dataclass
class Side:
    """One end of a pair: where its socket is, and the frames that it sends and waits for."""

    address: str
    headers: Mapping[str, str]
    socket: Any = None

    async def open(self, hello: str) -> None:
        origin = f"http://{self.address.split('/')[2]}"
        self.socket = await websockets.connect(
            self.address, origin=Origin(origin), additional_headers=self.headers, compression=None
        )
        if hello:
            await self.socket.send(hello)
            await self.until(lambda frame: frame["type"] == "ready")

    async def until(self, found: Callable[[Any], bool]) -> None:
        async with asyncio.timeout(MOST):
            while not found(json.loads(await self.socket.recv())):
                pass


@dataclass
class Round:
    """Seconds until the acknowledgement and until the partner has it; messages per second."""

    rate: float = 0.0
    acks: list[float] = field(default_factory=list)
    partners: list[float] = field(default_factory=list)


async def acknowledged(sender: Side, item: str, began: float) -> float:
    """Return the seconds until a message is acknowledged."""
    await sender.until(lambda frame: frame["type"] == "ack" and frame["id"] == item)
    return time.perf_counter() - began


async def talk(pair: tuple[Side, Side], until: float, found: Round) -> None:
    """Let a pair talk in turn until a moment."""
    number = 0
    while number < WARM or time.perf_counter() < until:
        sender, partner = pair[number % 2], pair[1 - number % 2]
        item, text, began = str(uuid4()), TEXT.format(number), time.perf_counter()
        await sender.socket.send(json.dumps({"type": "message", "id": item, "text": text}))
        ack = asyncio.create_task(acknowledged(sender, item, began))
        await partner.until(lambda frame: frame.get("text") == text)  # noqa: B023
        shown = time.perf_counter() - began
        acked = await ack
        number += 1
        if number > WARM:
            found.partners.append(shown)
            found.acks.append(acked)


async def crowd(pairs: Sequence[tuple[Side, Side]], seconds: float, hello: str) -> Round:
    """Open all sockets, let all pairs talk, and close them."""
    found = Round()
    for side in (side for pair in pairs for side in pair):
        await side.open(hello.replace("TAB", str(uuid4())))
    began = time.perf_counter()
    await asyncio.gather(*(talk(pair, began + seconds, found) for pair in pairs))
    found.rate = (len(found.partners) + WARM * len(pairs)) / (time.perf_counter() - began)
    for side in (side for pair in pairs for side in pair):
        await side.socket.close()
    return found


@contextmanager
def running(command: Sequence[str], folder: Path, env: Mapping[str, str]) -> Iterator[int]:
    """Start a server, wait until it answers, and end it."""
    port = free_port()
    server = subprocess.Popen([sys.executable, *command, str(port)], cwd=folder, env=env)
    try:
        _wait(port, server)
        yield port
    finally:
        server.send_signal(signal.SIGTERM)
        try:
            server.wait(15)
        except subprocess.TimeoutExpired:
            server.kill()


def _wait(port: int, server: subprocess.Popen[bytes]) -> None:
    import socket

    deadline = time.monotonic() + MOST
    while time.monotonic() < deadline and server.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise RuntimeError("the server does not answer")


def parley(
    checkout: Path, env: Mapping[str, str], port: int, sockets: int
) -> list[tuple[Side, Side]]:
    """Seed people of a checkout's server who talk in pairs."""
    wanted = {"protocol": "personachat_human", "bot": "people", "people": sockets}
    command = [sys.executable, "-m", "tests.live", "seed", json.dumps(wanted)]
    done = subprocess.run(
        command, cwd=checkout, env=env, check=True, capture_output=True, text=True
    )
    study = json.loads(done.stdout.splitlines()[-1])
    address = f"ws://127.0.0.1:{port}/c/{study['slug']}/socket?version=2"
    sides = [Side(address, {"Cookie": f"parley-{study['slug']}={one}"}) for one in study["secrets"]]
    return list(zip(sides[::2], sides[1::2], strict=True))


def stock(port: int, sockets: int) -> list[tuple[Side, Side]]:
    rooms = (f"ws://127.0.0.1:{port}/{uuid4().hex}" for _ in range(sockets // 2))
    return [(Side(room, {}), Side(room, {})) for room in rooms]


def measure(people: People, seconds: float, hello: str, sockets: int) -> Round:
    """Measure a round with so many sockets."""
    return asyncio.run(crowd(people(sockets), seconds, hello))


def main() -> None:
    given = _given()
    if given.stock:
        serve_stock(given.stock)
        return
    hello = json.dumps({"type": "hello", "last_seq": 0, "tab": "TAB"})
    with ExitStack() as stack:
        ways: dict[str, Callable[[int], Round]] = {}
        for checkout in (ROOT, *given.parley):
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            env = environment(folder)
            parley(checkout, env, 0, 2)  # the database has to be there
            port = stack.enter_context(running(("-c", PARLEY), checkout, env))
            people = partial(parley, checkout, env, port)
            ways[f"Parley {checkout.name}"] = partial(measure, people, given.seconds, hello)
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        port = stack.enter_context(running(STOCK, ROOT, environment(folder)))
        ways["stock Channels"] = partial(measure, partial(stock, port), given.seconds, "")
        for sockets in given.sockets:
            _print(sockets, _measure(ways, sockets, given.rounds))


def _measure(
    ways: Mapping[str, Callable[[int], Round]], sockets: int, rounds: int
) -> dict[str, list[Round]]:
    found: dict[str, list[Round]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, way in ways.items():
            found[name].append(way(sockets))
    return found


def _print(sockets: int, found: Mapping[str, Sequence[Round]]) -> None:
    times = " ".join(f"{what + ' ms p50 p95 p99':>24}" for what in ("ack", "partner"))
    heads = f"{'messages/s':>11} {'to stock':>9} {times}"
    load = os.getloadavg()[0]
    print(f"\n{sockets} sockets, load {load:.1f}\n{'':24} {heads}")
    rival = statistics.median(one.rate for one in found["stock Channels"])
    for name, rounds in found.items():
        rate = statistics.median(one.rate for one in rounds)
        spread = (
            _percentiles([getattr(one, kind) for one in rounds]) for kind in ("acks", "partners")
        )
        print(f"{name:24} {rate:11.0f} {rate / rival:8.2f}x {' '.join(spread)}", flush=True)


def _percentiles(rounds: Sequence[Sequence[float]]) -> str:
    cuts = [statistics.quantiles(one, n=100, method="inclusive") for one in rounds]
    medians = (1000 * statistics.median(each[place] for each in cuts) for place in (49, 94, 98))
    return " ".join(f"{each:7.1f}" for each in medians).rjust(24)


# --- the rival ---------------------------------------------------------------------------------


def serve_stock(port: int) -> None:
    """Serve the chat of Channels' tutorial, which stores each message by itself."""
    import django
    import uvicorn
    from django.conf import settings
    from django.core.asgi import get_asgi_application

    folder = Path(os.environ["DATA_DIR"])
    pragmas = "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;"
    settings.configure(
        SECRET_KEY="stock",
        INSTALLED_APPS=["channels"],
        DATABASES={
            "default": {
                "ENGINE": "django.db.backends.sqlite3",
                "NAME": folder / "stock.sqlite3",
                "OPTIONS": {"init_command": pragmas, "timeout": 20},
            }
        },
        CHANNEL_LAYERS={"default": {"BACKEND": "channels.layers.InMemoryChannelLayer"}},
    )
    django.setup()
    from channels.routing import ProtocolTypeRouter, URLRouter
    from django.db import connection
    from django.urls import path

    model, consumer = _tutorial()
    with connection.schema_editor() as editor:
        editor.create_model(model)
    routes = URLRouter([path("<str:room>", consumer.as_asgi())])
    app = ProtocolTypeRouter({"http": get_asgi_application(), "websocket": routes})
    uvicorn.run(app, port=port, log_level="warning", ws_per_message_deflate=False, lifespan="off")


def _tutorial() -> tuple[Any, Any]:
    """Return the model and the consumer; Django's settings have to be there before."""
    from channels.db import database_sync_to_async
    from channels.generic.websocket import AsyncWebsocketConsumer
    from django.db import models

    class Stored(models.Model):  # noqa: DJ008 (nobody reads it)
        room = models.CharField(max_length=40)
        text = models.TextField()

        class Meta:
            app_label = "stock"

    class Chat(AsyncWebsocketConsumer):
        async def connect(self) -> None:
            self.room = self.scope["url_route"]["kwargs"]["room"]
            await self.channel_layer.group_add(self.room, self.channel_name)
            await self.accept()

        async def disconnect(self, code: int) -> None:
            await self.channel_layer.group_discard(self.room, self.channel_name)

        async def receive(self, text_data: str) -> None:
            frame = json.loads(text_data)
            store = database_sync_to_async(Stored._default_manager.create)
            await store(room=self.room, text=frame["text"])
            event = {"type": "chat.message", "text": frame["text"]}
            await self.channel_layer.group_send(self.room, event)
            await self.send(text_data=json.dumps({"type": "ack", "id": frame["id"]}))

        async def chat_message(self, event: dict[str, str]) -> None:
            await self.send(text_data=json.dumps({"type": "event", "text": event["text"]}))

    return Stored, Chat


def _given() -> Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sockets", type=int, nargs="+", default=[2, 10, 50, 200])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=3.0, help="of each round")
    parser.add_argument("--parley", type=Path, nargs="*", default=[], help="other checkouts")
    parser.add_argument("--stock", type=int, default=0, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if any(count < 2 or count % 2 for count in given.sockets):
        parser.error("--sockets: even numbers from 2")
    return given


if __name__ == "__main__":
    main()
