"""`manage.py recruit`: keep studies, submissions and pay at the panel as they should be."""

from __future__ import annotations

import signal
import threading
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError
from django.db import connection

from webapp import clock
from webapp.management.quick import QuickCommand
from webapp.services.recruiting import client, turn


class Command(QuickCommand):
    help = "Send what is queued to the panel, read its submissions, pay what is owed; any number."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--once", action="store_true", help="take one turn and end")

    def handle(self, *args: Any, **options: Any) -> None:
        if not client.is_on():
            raise CommandError("PROLIFIC_TOKEN is not set: there is no panel to speak to")
        if options["once"]:
            for kind, count in turn.turn(clock.now()).items():
                self.stdout.write(f"{kind}: {count}")
            return
        ended = threading.Event()
        for name in (signal.SIGTERM, signal.SIGINT):
            signal.signal(name, lambda *_: ended.set())
        turn.serve(ended)
        connection.close()
