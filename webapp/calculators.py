"""Calculators: child processes that compute the results which pages want, one per subject.

A page never computes. It says what it wants (`services.results.stored`), and the server that it is
served by starts `manage.py compute_results` for that campaign or study, gives signs of life for it,
and says on the page why it ended if it ended badly. See docs/decisions/0034.
"""

from __future__ import annotations

import logging
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from django.conf import settings
from django.db import Error, connection

from webapp import realtime
from webapp.services.results import stored

log = logging.getLogger(__name__)
ROOT = Path(__file__).resolve().parent.parent
COMMAND = (sys.executable, "manage.py", "compute_results")
BEAT = 5.0  # seconds between signs of life
AT_ONCE = 1  # one computation takes a core, and hundreds of megabytes


class Calculators:
    """The children of one server process; `command` and the subject are what each runs."""

    def __init__(
        self,
        command: Sequence[str] = COMMAND,
        *,
        patience: float | None = None,
        beat: float = BEAT,
    ) -> None:
        self._command = command
        self._patience = settings.RESULTS_SECONDS if patience is None else patience
        self._beat = beat
        self._owner = f"{socket.gethostname()[:30]}:{os.getpid()}"
        self._turns = threading.Semaphore(AT_ONCE)
        self._lock = threading.Lock()
        self._threads: dict[str, threading.Thread] = {}  # by subject
        self._children: set[subprocess.Popen[bytes]] = set()
        self._stopped = threading.Event()

    def start(self) -> None:
        """Hear of what pages of this process want."""
        realtime.compute(self.want)

    def stop(self) -> None:
        """End the children; what they computed is wanted still, and begun at the next look."""
        realtime.compute(None)
        self._stopped.set()
        with self._lock:
            threads, children = list(self._threads.values()), list(self._children)
        for child in children:
            child.kill()
        for thread in threads:
            thread.join(timeout=5)

    def want(self, subject: str) -> None:
        """Compute what is wanted of a subject, unless that is under way; returns at once."""
        with self._lock:
            if self._stopped.is_set() or subject in self._threads:
                return
            name = f"results {subject}"
            run = threading.Thread(target=self._run, args=(subject,), name=name, daemon=True)
            self._threads[subject] = run
            run.start()

    def _run(self, subject: str) -> None:
        try:
            with self._turns:
                self._compute(subject)
        except Error as problem:  # the page's next look begins it again
            log.warning("results: database trouble: %s", type(problem).__name__)
        finally:
            with self._lock:
                self._threads.pop(subject, None)
            connection.close()

    def _compute(self, subject: str) -> None:
        if self._stopped.is_set() or not stored.begin(subject, self._owner):
            return
        try:
            problem = self._watch(subject)
            if problem and not self._stopped.is_set():
                log.error("results of %s: %s", subject, problem)
                stored.fail_all(subject, problem)
        finally:
            stored.end(subject)

    def _watch(self, subject: str) -> str:
        """Run the child to its end; return what was wrong with it, or nothing."""
        child = subprocess.Popen(  # noqa: S603 (our own program)
            [*self._command, subject], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, cwd=ROOT
        )
        with self._lock:
            self._children.add(child)
        latest = time.monotonic() + self._patience
        try:
            while child.poll() is None:
                if time.monotonic() > latest or self._stopped.is_set():
                    child.kill()
                try:
                    child.wait(self._beat)
                except subprocess.TimeoutExpired:
                    _try(lambda: stored.beat(subject))
        finally:
            child.kill()
            child.wait()
            if child.stdin is not None:
                child.stdin.close()
            with self._lock:
                self._children.discard(child)
        if time.monotonic() > latest:
            return f"it took longer than {self._patience:g} seconds and was ended"
        return _ending(child.returncode)


def _ending(status: int) -> str:
    if status < 0:
        return f"the process that computed it was ended ({signal.Signals(-status).name})"
    return f"the process that computed it failed (exit status {status})" if status else ""


def _try(write: Callable[[], object]) -> None:
    """Write to the database; trouble with it ends no computation."""
    try:
        write()
    except Error as problem:
        log.warning("results: database trouble: %s", type(problem).__name__)
        connection.close()
