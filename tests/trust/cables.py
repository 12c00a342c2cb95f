"""A line between people and a web server that can be cut: a small TCP proxy in a thread.

Apart because nginx, of `proxy`, mends what this one breaks.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
import threading
from collections.abc import Iterator, Sequence

RESET = struct.pack("ii", 1, 0)  # closing sends a reset, and nothing that was on its way


class Cable:
    """Carries bytes from a port of its own to another one of this machine, until it is cut."""

    def __init__(self, target: int) -> None:
        self.target = target
        self.port = 0
        self.cuts = 0  # connections that were broken
        self._ends: set[asyncio.StreamWriter] = set()

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def open(self) -> None:
        server = await asyncio.start_server(self._carry, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]

    async def cut(self) -> None:
        """Break every connection as a router does that restarts: both ends get a reset."""
        for end in self._ends:
            sock = end.get_extra_info("socket")
            with contextlib.suppress(OSError):
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
            end.transport.abort()
        self.cuts += len(self._ends) // 2

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            back, forth = await asyncio.open_connection("127.0.0.1", self.target)
        except OSError:
            writer.transport.abort()
            return
        ends = {writer, forth}
        self._ends |= ends
        try:
            await asyncio.gather(_copy(reader, forth), _copy(back, writer))
        finally:
            self._ends -= ends
            for end in ends:
                end.close()


async def _copy(source: asyncio.StreamReader, to: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while part := await source.read(65536):
            to.write(part)
            await to.drain()
    with contextlib.suppress(OSError, RuntimeError):
        to.close()


class Cables:
    """The cables of an installation, carried by one thread."""

    def __init__(self, targets: Sequence[int]) -> None:
        self.all = [Cable(target) for target in targets]
        self._loop = asyncio.new_event_loop()

    @property
    def bases(self) -> tuple[str, ...]:
        return tuple(cable.base for cable in self.all)

    def cut(self) -> int:
        """Break all connections; return how many there were."""
        before = sum(cable.cuts for cable in self.all)
        for cable in self.all:
            asyncio.run_coroutine_threadsafe(cable.cut(), self._loop).result(10)
        return sum(cable.cuts for cable in self.all) - before


@contextlib.contextmanager
def laid(targets: Sequence[int]) -> Iterator[Cables]:
    cables = Cables(targets)
    thread = threading.Thread(target=cables._loop.run_forever, name="cables", daemon=True)
    thread.start()
    try:
        for cable in cables.all:
            asyncio.run_coroutine_threadsafe(cable.open(), cables._loop).result(10)
        yield cables
    finally:
        cables._loop.call_soon_threadsafe(cables._loop.stop)
        thread.join(10)
