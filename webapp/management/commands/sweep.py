"""`manage.py sweep`: run what is overdue, every second. Run any number; one works at a time."""

from __future__ import annotations

import logging
import os
import signal
import socket
import threading
from argparse import ArgumentParser
from typing import Any

from django.db import DatabaseError, connection

from webapp import clock
from webapp.calculators import Calculators
from webapp.management.quick import QuickCommand
from webapp.services.ops import host_clocks, sweep_turn, sweeper
from webapp.services.rules import uptime

log = logging.getLogger(__name__)


class Command(QuickCommand):
    help = "Do what is overdue, again and again; any number may run, one works at a time."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--once", action="store_true", help="tick once and end")
        parser.add_argument("--seconds", type=float, default=1.0, help="between two ticks")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["once"]:
            for kind, count in sweeper.tick(clock.read()).items():
                self.stdout.write(f"{kind}: {count}")
            return
        ended = threading.Event()
        for name in (signal.SIGTERM, signal.SIGINT):
            signal.signal(name, lambda *_: ended.set())
        owner = f"{socket.gethostname()}:{os.getpid()}"
        calculators = Calculators()  # of the looks by stop rules, which nobody's page asks for
        calculators.start()
        while not ended.is_set():
            self._tick(owner)
            ended.wait(options["seconds"])
        calculators.stop()
        connection.close()  # and with it the lock, so that another goes on at once

    def _tick(self, owner: str) -> None:
        """Tick where it is our turn; the connection stays open, for it holds the lock."""
        try:
            if sweep_turn.take(owner=owner, now=clock.now()):
                done = sweeper.tick(clock.read())
                sweep_turn.beat(owner=owner, now=clock.now(), done=done)
                host_clocks.beat(uptime.Part.SWEEPER)
        except DatabaseError as problem:  # it may be restarting: the next tick connects anew
            log.warning("sweep: %s", problem)
            connection.close()
