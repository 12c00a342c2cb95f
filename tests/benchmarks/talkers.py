"""Pairs of people who talk over bare sockets, in one event loop, for benchmarks of servers.

A client of a library costs more than the server that it measures. This one reads frames off the
socket by itself, looks into them for what it waits for, and parses no JSON. Its mask is zero, which
leaves the text as it is.
"""

from __future__ import annotations

import asyncio
import json
import random
import statistics
import struct
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast
from uuid import uuid4

TEXT = "I have been to the seaside with my two dogs, number {}."
MOST = 120.0  # seconds that anything may take
TOGETHER = 5  # pairs that come in at once
ALIVE = 20.0  # seconds between signs of life of whoever does not write
UPGRADE = (
    "GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nOrigin: http://127.0.0.1:{port}\r\n"
    "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n{cookie}\r\n"
)


@dataclass(frozen=True)
class Door:
    """An address of a socket, and the cookie that opens it; `before` stands before each frame."""

    port: int
    path: str
    cookie: str = ""
    before: bytes = b""


class Talker(asyncio.Protocol):
    """One end of a pair: hands each text that the server sends to `heard`."""

    def __init__(self, door: Door) -> None:
        self.door = door
        self.heard: Callable[[bytes], None] = lambda text: None
        self.opened: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.buffer = b""
        self.is_open = self.is_closing = False

    @classmethod
    async def enter(cls, door: Door) -> Talker:
        """Open a socket."""
        talker = cls(door)
        async with asyncio.timeout(MOST):
            await asyncio.get_running_loop().create_connection(
                lambda: talker, "127.0.0.1", door.port
            )
            await talker.opened
        return talker

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)  # uvloop's is none by its class
        door = self.door
        cookie = f"Cookie: {door.cookie}\r\n" if door.cookie else ""
        asked = UPGRADE.format(path=door.path, port=door.port, cookie=cookie)
        self.transport.write(asked.encode())

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        if not self.is_open:
            head, mark, rest = self.buffer.partition(b"\r\n\r\n")
            if not mark:
                return
            if b" 101 " not in head.split(b"\r\n")[0]:
                self.opened.set_exception(RuntimeError(head.decode("latin-1")))
                return
            self.buffer, self.is_open = rest, True
            self.opened.set_result(None)
        for kind, text in self._frames():
            if kind == 0x1:
                self.heard(text)
            elif kind == 0x9:
                self._write(0x8A, text)

    def _frames(self) -> Iterator[tuple[int, bytes]]:
        """Take whole frames off the buffer."""
        buffer, place = self.buffer, 0
        while len(buffer) >= place + 4:
            size, begin = buffer[place + 1], place + 2
            if size == 126:
                size, begin = int.from_bytes(buffer[begin : begin + 2], "big"), begin + 2
            elif size == 127:
                raise RuntimeError("a frame of more than 64 KiB")
            if len(buffer) < begin + size:
                break
            yield buffer[place] & 0xF, buffer[begin : begin + size]
            place = begin + size
        self.buffer = buffer[place:]

    def connection_lost(self, problem: Exception | None) -> None:
        if not self.opened.done():
            self.opened.set_exception(RuntimeError(f"closed at once: {self.buffer!r}"))
        self.is_open = False

    def send(self, **frame: object) -> None:
        """Send a frame of the protocol."""
        self._write(0x81, json.dumps(frame).encode())

    def _write(self, head: int, text: bytes) -> None:
        size = bytes((0x80 | len(text),)) if len(text) < 126 else struct.pack("!BH", 254, len(text))
        self.transport.write(bytes((head,)) + size + bytes(4) + text)

    async def greet(self) -> None:
        """Say hello and wait until everything was replayed."""
        ready = asyncio.get_running_loop().create_future()

        def heard(text: bytes) -> None:
            if b'"ready"' in text[:20] and not ready.done():
                ready.set_result(None)

        self.heard = heard
        self.send(type="hello", last_seq=0, tab=str(uuid4()))
        async with asyncio.timeout(MOST):
            await ready

    def leave(self) -> None:
        self.transport.close()


@dataclass
class Found:
    """Seconds until the acknowledgement, and until the partner has it, of each message."""

    acks: list[float] = field(default_factory=list)
    partners: list[float] = field(default_factory=list)
    seconds: float = 0.0
    cpu: float = 0.0  # seconds of the server's processes
    idle: float = 0.0  # seconds of CPU per second that they take while nobody writes

    @property
    def rate(self) -> float:
        return len(self.partners) / self.seconds

    @property
    def rate_of_core(self) -> float:
        """Messages a second that one core could do, beside what the server does when idle."""
        for_messages = max(self.cpu - self.idle * self.seconds, 0.01)
        return len(self.partners) * (1 - self.idle) / for_messages


class Pair:
    """Two who talk in turn, at once or at a pace. Both must stay open."""

    def __init__(self, first: Talker, second: Talker, *, lives: bool) -> None:
        self.sides = first, second
        self.lives = lives  # gives signs of life, which the stock app does not know
        self.number = 0
        self.is_talking = False
        self.missing = 0
        self.text, self.item = b"", b""
        self.began = 0.0
        self.found = Found()
        self.pause, self.due = 0.0, 0.0
        for side in self.sides:
            side.heard = lambda text, side=side: self._heard(side, text)  # type: ignore[misc]

    def begin(self, found: Found, pause: float) -> None:
        """Talk from now on; after `pause` seconds comes the next message, or at once."""
        self.found, self.pause, self.is_talking = found, pause, True
        loop = asyncio.get_running_loop()
        self.due = loop.time() + random.uniform(0, pause)
        loop.call_at(self.due, self._say)

    def _say(self) -> None:
        if not self.is_talking:
            return
        sender = self.sides[self.number % 2]
        text, item = TEXT.format(self.number), str(uuid4())
        self.text, self.item, self.missing = text.encode(), item.encode(), 2
        self.began = time.perf_counter()
        sender.send(type="message", id=item, text=text)

    def _heard(self, side: Talker, text: bytes) -> None:
        if self.missing == 0:
            return
        is_sender = side is self.sides[self.number % 2]
        head = text.removeprefix(side.door.before)[:20]
        if is_sender and b'"ack"' in head and self.item in text:
            self.found.acks.append(time.perf_counter() - self.began)
        elif not is_sender and b'"event"' in head and self.text in text:
            self.found.partners.append(time.perf_counter() - self.began)
        elif b'"refused"' in head or b'"error"' in head:
            raise RuntimeError(text.decode())
        else:
            return
        self.missing -= 1
        if self.missing == 0:
            self.number += 1
            self._go_on()

    def _go_on(self) -> None:
        if not self.pause:
            self._say()
            return
        loop = asyncio.get_running_loop()
        self.due = max(self.due + self.pause, loop.time())
        loop.call_at(self.due, self._say)

    async def rest(self) -> None:
        """Talk no more; wait until what was sent has arrived."""
        self.is_talking = False
        async with asyncio.timeout(MOST):
            while self.missing:
                await asyncio.sleep(0.005)


async def enter(doors: Sequence[tuple[Door, Door]], *, greets: bool) -> list[Pair]:
    """Let people in, a few at a time; those who greet are not silent meanwhile."""
    pairs: list[Pair] = []
    staying = asyncio.create_task(stay(pairs))
    for first in range(0, len(doors), TOGETHER):
        some = doors[first : first + TOGETHER]
        pairs += await asyncio.gather(*(_pair(two, greets) for two in some))
    staying.cancel()
    return pairs


async def _pair(two: tuple[Door, Door], greets: bool) -> Pair:
    both = [await Talker.enter(door) for door in two]
    for each in both if greets else ():
        await each.greet()
    return Pair(both[0], both[1], lives=greets)


async def talk(
    pairs: Sequence[Pair],
    seconds: float,
    *,
    pause: float = 0.0,
    servers: Sequence[int] = (),
    idle: float = 0.0,
) -> Found:
    """Let pairs talk for some seconds, and return how long each message took."""
    found, warm = Found(idle=idle), Found()
    for pair in pairs:
        pair.begin(warm, pause)
    await asyncio.sleep(min(1.0, seconds / 4) + pause)
    for pair in pairs:
        pair.found = found
    began, cpu = time.perf_counter(), sum(map(cpu_seconds, servers))
    await asyncio.sleep(seconds)
    found.seconds = time.perf_counter() - began
    found.cpu = sum(map(cpu_seconds, servers)) - cpu
    for pair in pairs:
        pair.found = warm
    await asyncio.gather(*(pair.rest() for pair in pairs))
    return found


async def idle_share(servers: Sequence[int], seconds: float) -> float:
    """Return how much of a core servers take while nobody writes."""
    began, cpu = time.perf_counter(), sum(map(cpu_seconds, servers))
    await asyncio.sleep(seconds)
    return (sum(map(cpu_seconds, servers)) - cpu) / (time.perf_counter() - began)


async def stay(pairs: Sequence[Pair]) -> None:
    """Give signs of life for everybody until canceled."""
    while True:
        await asyncio.sleep(ALIVE)
        for side in (side for pair in pairs if pair.lives for side in pair.sides):
            side.send(type="ping")


def cpu_seconds(pid: int) -> float:
    """Return how much CPU a process took, the kernel's part included."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100


def megabytes(pid: int) -> float:
    """Return what a process holds in memory."""
    status = Path(f"/proc/{pid}/status").read_text()
    line = next(each for each in status.splitlines() if each.startswith("VmRSS"))
    return int(line.split()[1]) / 1024


def percentiles(rounds: Sequence[Sequence[float]]) -> tuple[float, float, float]:
    """Return p50, p95 and p99 in milliseconds: of each round, then the median of the rounds."""
    cuts = [statistics.quantiles(one, n=100, method="inclusive") for one in rounds]
    p50, p95, p99 = (
        1000 * statistics.median(each[place] for each in cuts) for place in (49, 94, 98)
    )
    return p50, p95, p99
