"""`manage.py compute_results campaign-3`: compute the results that pages want; servers start it."""

from __future__ import annotations

import os
import re
import sys
import threading
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from webapp.management.quick import QuickCommand

SUBJECT = re.compile(r"(campaign|study)-[0-9]{1,18}")
NICENESS = 5  # the sockets go first


class Command(QuickCommand):
    help = "Compute the results of a campaign or a study that pages are waiting for."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("subject", help="such as campaign-3 or study-2")

    def handle(self, *args: Any, **options: Any) -> None:
        subject = options["subject"]
        if not SUBJECT.fullmatch(subject):
            raise CommandError(f"subject: {subject!r}; write it as campaign-3 or study-2")
        os.nice(NICENESS)
        if not sys.stdin.isatty():
            threading.Thread(target=_end_with_parent, daemon=True).start()
        # Only here: what computes takes seconds to load, and help and errors do without.
        from webapp.services.results.computing import compute_wanted

        count = compute_wanted(subject)
        self.stdout.write(f"{subject}: {count} computed")


def _end_with_parent() -> None:
    """End when the server does, however it ended: the pipe from it is closed then."""
    while os.read(0, 1024):  # not through sys.stdin, whose lock would be held at the end
        pass
    os._exit(0)
