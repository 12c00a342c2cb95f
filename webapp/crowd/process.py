"""A crowd in a process of its own, seen from the process that started it."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path

from webapp.crowd.order import Order

ROOT = Path(__file__).resolve().parents[2]
Truth = Callable[[str], Mapping[str, str]]


def unknown(person: str) -> Mapping[str, str]:
    """Tell nothing: the crowd then takes every partner for an average one."""
    return {}


class Crowd:
    """Runs people; `truth` says of each, when asked, what a blinded client cannot know."""

    def __init__(self, order: Order, ledger: Path, *, truth: Truth = unknown) -> None:
        self.order = order
        self.ended: list[str] = []
        self._truth = truth
        self._process = subprocess.Popen(  # noqa: S603 (our own program)
            [sys.executable, "-m", "webapp.crowd", str(ledger)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        )
        self._tell(order.line())
        self._listener = threading.Thread(target=self._listen, name="crowd", daemon=True)
        self._listener.start()

    @property
    def running(self) -> bool:
        return self._process.poll() is None

    def wait(self, seconds: float) -> int:
        """Wait for the last person; return the exit status."""
        status = self._process.wait(seconds)
        self._listener.join(5)
        return status

    def end(self) -> None:
        """Send everybody home."""
        self._process.kill()
        self._process.wait()
        self._listener.join(5)

    def _tell(self, line: str) -> None:
        if self._process.stdin is not None:
            self._process.stdin.write(line + "\n")
            self._process.stdin.flush()

    def _listen(self) -> None:
        for line in self._process.stdout or ():
            said = json.loads(line)
            if "ask" in said:
                self._tell(json.dumps({"answer": said["ask"], **self._truth(said["person"])}))
            else:
                self.ended.append(said["ended"])
