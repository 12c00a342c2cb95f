"""`manage.py verify`: does what rows count agree with the logs that it was counted from?"""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from webapp.services.rules import tally


class Command(BaseCommand):
    help = "Compare the counts of conversations with their logs; a line for each fault, exit 1."

    def handle(self, *args: Any, **options: Any) -> None:
        faults = 0
        for fault in tally.faults():
            self.stdout.write(fault)
            faults += 1
        if faults:
            raise CommandError(f"{faults} counts differ from the log", returncode=1)
        self.stdout.write("every conversation is counted as its log has it")
