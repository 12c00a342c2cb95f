"""Threads that make one process enough: reply workers and the sweeper as threads.

The server starts them with its first loop and ends them with its last (see `webapp.asgi`); with
REDIS_URL set they are processes of their own and none of this runs.
"""

from __future__ import annotations

import logging
import sys
import threading

from django.conf import settings
from django.db import Error, connection

from webapp import chat_service, clock, realtime, workers
from webapp.services.ops import sweeper
from webapp.services.recruiting import turn
from webapp.services.rules import uptime

log = logging.getLogger(__name__)
SWEEP = 2.0  # seconds between ticks
TURN = 0.0005  # seconds a busy thread goes on while others wait: each query waits for its turn


class Embedded:
    """The threads that one process needs."""

    def __init__(self) -> None:
        self._stopped = threading.Event()
        self._host = workers.Host()
        self._sweeper = threading.Thread(target=self._sweep, name="sweeper", daemon=True)
        self._service = threading.Thread(target=self._serve, name="chat service", daemon=True)
        self._panel = threading.Thread(target=self._recruit, name="panel", daemon=True)

    def start(self) -> None:
        sys.setswitchinterval(TURN)
        self._host = workers.hosted_here()
        self._host.start()
        self._sweeper.start()
        if settings.CHAT_SERVICE_TOKEN:
            self._service.start()
        if settings.PROLIFIC_TOKEN:
            self._panel.start()

    def stop(self) -> None:
        realtime.listen(None)
        self._stopped.set()
        self._host.stop()
        for thread in (self._sweeper, self._service, self._panel):
            if thread.is_alive():
                thread.join(timeout=5)

    def _serve(self) -> None:
        chat_service.serve(self._stopped)
        connection.close()

    def _recruit(self) -> None:
        turn.serve(self._stopped)
        connection.close()

    def _sweep(self) -> None:
        while not self._stopped.wait(SWEEP):
            try:
                sweeper.tick(clock.read())
                uptime.beat(uptime.Part.SWEEPER)
            except Error as problem:
                log.warning("sweeper: database trouble: %s", type(problem).__name__)
                connection.close()
            except Exception:  # the sweeper must not end silently
                log.exception("the sweeper's tick failed")
        connection.close()
