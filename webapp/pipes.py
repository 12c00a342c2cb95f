"""Pipes to a child process: requests as JSON lines, each answered by its number, in any order.

What an answer has grown to may come before it. Several may be under way. Where the process ends,
all that wait are told so. The process is started by a command, or forked from a `Nursery`, which
has imported what takes long.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import select
import signal
import socket
import subprocess
import threading
import weakref
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from typing import IO, Any, Protocol, cast

LARGEST = 64 * 1024 * 1024  # bytes of an answer
ENDED = "the process that ran the bot ended"
READY = b"r"  # of a nursery that has imported all
PATIENCE = 20.0  # seconds for a fork


class Process(Protocol):
    """What a pipe needs of a process, as `subprocess.Popen` has it."""

    stdin: IO[bytes] | None
    stdout: IO[bytes] | None
    pid: int

    def poll(self) -> int | None: ...

    def kill(self) -> None: ...

    def wait(self) -> int: ...


class Forked:
    """A process that a nursery forked: no child of ours, so held by a descriptor of its own."""

    def __init__(self, pid: int, stdin: IO[bytes], stdout: IO[bytes]) -> None:
        self.pid = pid
        self.stdin: IO[bytes] | None = stdin
        self.stdout: IO[bytes] | None = stdout
        self._held = os.pidfd_open(pid)
        weakref.finalize(self, os.close, self._held)

    def poll(self) -> int | None:
        """Return None while the process runs."""
        return self._wait(0)

    def kill(self) -> None:
        """End the process, if it runs."""
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._held, signal.SIGKILL)

    def wait(self) -> int:
        """Return once the process has ended."""
        return self._wait(None) or 0

    def _wait(self, milliseconds: int | None) -> int | None:
        ended = select.poll()
        ended.register(self._held, select.POLLIN)
        return 0 if ended.poll(milliseconds) else None


class Nursery:
    """A process that imports what takes long, and forks into processes that have it.

    `command` gets the number of a socket: it sends a byte when all is imported, and then, for each
    byte with two descriptors, a standard input and output, the number of a process.
    """

    def __init__(self, command: Sequence[str], more: Sequence[str], **options: Any) -> None:
        self._line, theirs = socket.socketpair()
        self._line.settimeout(PATIENCE)
        self._one_fork = threading.Lock()
        self._is_ready = False
        with theirs:
            number = theirs.fileno()
            self._process = subprocess.Popen(  # noqa: S603 (commands of ours)
                [*command, str(number), *more], pass_fds=[number], **options
            )

    @staticmethod
    def is_possible() -> bool:
        """Tell whether this system can hold a process that is no child: Linux can."""
        return hasattr(os, "pidfd_open")

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def runs(self) -> bool:
        return self._process.poll() is None

    def fork(self) -> Forked | None:
        """Return a new process; None where the nursery is not ready yet, or is no more."""
        if not self.ready():
            return None
        theirs_in, ours_in = os.pipe()
        ours_out, theirs_out = os.pipe()
        stdin, stdout = os.fdopen(ours_in, "wb"), os.fdopen(ours_out, "rb")
        try:
            with self._one_fork:
                socket.send_fds(self._line, [b"f"], [theirs_in, theirs_out])
                return Forked(int(self._line.recv(20)), stdin, stdout)
        except (OSError, ValueError):  # it ended, or what it forked has
            self.close()
            stdin.close()
            stdout.close()
            return None
        finally:
            os.close(theirs_in)
            os.close(theirs_out)

    def ready(self) -> bool:
        """Tell whether all is imported, without waiting for it."""
        with self._one_fork, contextlib.suppress(OSError):
            if not self._is_ready and self._line.fileno() >= 0:
                heard = select.poll()
                heard.register(self._line, select.POLLIN)
                self._is_ready = bool(heard.poll(0)) and self._line.recv(1) == READY
        return self._is_ready

    def close(self) -> None:
        """End the process; what it forked goes on."""
        self._process.kill()
        self._process.wait()
        self._line.close()


class Pipe:
    """A child process, and the requests that wait for its answers."""

    def __init__(self, process: Process) -> None:
        self.process = process
        self._numbers = itertools.count()
        self._waiting: dict[int, Future[dict[str, Any]]] = {}
        self._growing: dict[int, Callable[[int, str], None]] = {}
        self._lock = threading.Lock()
        self._writing = threading.Lock()
        self._is_over = False
        threading.Thread(target=self._read, name="answers of a child", daemon=True).start()

    def ask(
        self,
        request: Mapping[str, Any],
        patience: float,
        growing: Callable[[int, str], None] | None = None,
    ) -> dict[str, Any]:
        """Return the answer, or one that says `lost`; a process that is late is ended.

        `growing` is told, in the thread that reads, what a row of the answer has grown to; it must
        not wait.
        """
        number, answer = next(self._numbers), Future[dict[str, Any]]()
        if growing is not None:
            self._growing[number] = growing
        with self._lock:
            if self._is_over:
                return _lost(ENDED)
            self._waiting[number] = answer
        try:
            self._write(json.dumps({**request, "number": number}).encode() + b"\n")
            return answer.result(patience)
        except TimeoutError:
            self.process.kill()
            return _lost(f"the bot took longer than {patience:g} s")
        except OSError:
            self.process.kill()
            return _lost(ENDED)
        finally:
            with self._lock:
                self._waiting.pop(number, None)
                self._growing.pop(number, None)

    def end(self) -> None:
        """End the process; what waits is told that it was lost."""
        self.process.kill()
        with contextlib.suppress(OSError):
            cast(IO[bytes], self.process.stdin).close()
        self.process.wait()

    def _write(self, line: bytes) -> None:
        with self._writing:
            sent = cast(IO[bytes], self.process.stdin)
            sent.write(line)
            sent.flush()

    def _tell(self, number: int, row: int, text: str) -> None:
        """Tell what an answer has grown to: it may be lost, which the answer may not."""
        growing = self._growing.get(number)
        if growing is not None:
            with contextlib.suppress(Exception):
                growing(row, text)

    def _read(self) -> None:
        """Hand out answers until the process ends; one that cannot be read ends it."""
        got = cast(IO[bytes], self.process.stdout)
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            while line := got.readline(LARGEST):
                result: dict[str, Any] = json.loads(line)
                number = result.pop("number")
                if "grown" in result:
                    self._tell(number, *result["grown"])
                    continue
                with self._lock:
                    answer = self._waiting.pop(number, None)
                if answer is not None:
                    answer.set_result(result)
        self.process.kill()
        with self._lock:
            self._is_over, left = True, list(self._waiting.values())
            self._waiting.clear()
        for answer in left:
            answer.set_result(_lost(ENDED))
        got.close()


def _lost(error: str) -> dict[str, Any]:
    return {"lost": True, "error": error}
