"""Pipes to a child process: requests as JSON lines, each answered by its number, in any order.

Several may be under way. Where the process ends, all that wait are told so.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import subprocess
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from typing import IO, Any, cast

LARGEST = 64 * 1024 * 1024  # bytes of an answer
ENDED = "the process that ran the bot ended"


class Pipe:
    """A child process, and the requests that wait for its answers."""

    def __init__(self, command: Sequence[str], **options: Any) -> None:
        self.process = subprocess.Popen(  # noqa: S603 (commands of ours)
            list(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, **options
        )
        self._numbers = itertools.count()
        self._waiting: dict[int, Future[dict[str, Any]]] = {}
        self._lock = threading.Lock()
        self._writing = threading.Lock()
        self._is_over = False
        threading.Thread(target=self._read, name="answers of a child", daemon=True).start()

    def ask(self, request: Mapping[str, Any], patience: float) -> dict[str, Any]:
        """Return the answer, or one that says `lost`; a process that is late is ended."""
        number, answer = next(self._numbers), Future[dict[str, Any]]()
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

    def _read(self) -> None:
        """Hand out answers until the process ends; one that cannot be read ends it."""
        got = cast(IO[bytes], self.process.stdout)
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            while line := got.readline(LARGEST):
                result: dict[str, Any] = json.loads(line)
                with self._lock:
                    answer = self._waiting.pop(result.pop("number"), None)
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
