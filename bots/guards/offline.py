"""Offline: a process in which no bot reaches the network or starts another program.

Apart because any command may be run so. Python's audit hook cannot be taken out again. It refuses
what Python does; native code that opens a socket by itself is kept in by the operating system only,
which whoever starts the process has to see to.
"""

from __future__ import annotations

import sys

REFUSED = frozenset(
    {
        *("socket.connect", "socket.bind", "socket.sendto", "socket.sendmsg"),
        *("socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr"),
        *("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn"),
    }
)


class Offline(PermissionError):
    """A connection or a program that a process without network was asked for."""


def go_offline() -> None:
    """Refuse connections and programs from now on, until this process ends."""
    sys.addaudithook(_refuse)


def _refuse(event: str, arguments: tuple[object, ...]) -> None:
    if event in REFUSED:
        raise Offline(f"{event} is refused: this process is offline")
