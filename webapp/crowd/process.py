"""A crowd in a process of its own, seen from the process that started it."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from webapp.crowd.order import Order

ROOT = Path(__file__).resolve().parents[2]
Truth = Callable[[str], Mapping[str, str]]
Gone = Callable[[str], object]


def unknown(person: str) -> Mapping[str, str]:
    """Tell nothing: the crowd then takes every partner for an average one."""
    return {}


def nothing(person: str) -> None:
    """Leave it to the server to notice people who left, by their silence."""


class Crowd:
    """Runs people; `truth` returns for each, on request, what a blinded client cannot know.

    `gone` is called with each person who has left for good, before anybody comes in their place.
    """

    def __init__(
        self, order: Order, ledger: Path, *, truth: Truth = unknown, gone: Gone = nothing
    ) -> None:
        self.order = order
        self.ended: list[str] = []
        self._truth = truth
        self._gone = gone
        self._process = subprocess.Popen(  # noqa: S603 (our own program)
            [sys.executable, "-m", "webapp.crowd", str(ledger)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        )
        self._write(order.line())
        self._listener = threading.Thread(target=self._listen, name="crowd", daemon=True)
        self._listener.start()

    @property
    def running(self) -> bool:
        """Tell whether anybody is still there, or was and has not been heard of yet."""
        return self._listener.is_alive()

    def wait(self, seconds: float) -> int:
        """Wait for the last person; return the exit status."""
        status = self._process.wait(seconds)
        self._close()
        return status

    def end(self) -> None:
        """Send everybody home."""
        self._process.kill()
        self._process.wait()
        self._close()

    def _close(self) -> None:
        """Hear the last words, then close the pipes."""
        self._listener.join(5)
        for pipe in (self._process.stdin, self._process.stdout):
            with suppress(BrokenPipeError):
                if pipe is not None:
                    pipe.close()

    def _write(self, line: str) -> None:
        if self._process.stdin is not None:
            self._process.stdin.write(line + "\n")
            self._process.stdin.flush()

    def _listen(self) -> None:
        for line in self._process.stdout or ():
            record = json.loads(line)
            if "gone" in record:
                self._gone(record["gone"])
                self._write(json.dumps({"answer": record["ask"]}))
            elif "ask" in record:
                self._write(json.dumps({"answer": record["ask"], **self._truth(record["person"])}))
            else:
                self.ended.append(record["ended"])
