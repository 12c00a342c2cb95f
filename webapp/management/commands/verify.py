"""`manage.py verify`: do counts agree with their logs? `manage.py verify RECEIPT`: is it true?"""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from webapp.services.receipts import checking
from webapp.services.receipts.checking import ReceiptVerdict
from webapp.services.rules import tally

WORDS = {
    ReceiptVerdict.FORGED: "not valid: this server did not sign it, or it was changed",
    ReceiptVerdict.UNKNOWN: "signed by this server, but the database does not have it",
    ReceiptVerdict.DIFFERS: "signed by this server, but the database has something else",
    ReceiptVerdict.DELETED: "valid: signed by this server; the words were deleted by a withdrawal",
    ReceiptVerdict.MATCHES: "valid: signed by this server, and the database has what it confirms",
}


class Command(BaseCommand):
    help = "Compare counts with logs, and receipts with what is stored; or check one receipt."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("receipt", nargs="?", default="", help="what a participant has")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["receipt"]:
            self._check(options["receipt"])
            return
        faults = 0
        for fault in (*tally.faults(), *(words for _, words in checking.faults())):
            self.stdout.write(fault)
            faults += 1
        if faults:
            raise CommandError(f"{faults} counts differ from the log", returncode=1)
        self.stdout.write("every conversation is counted as its log has it")

    def _check(self, receipt: str) -> None:
        found = checking.check(receipt)
        if found.is_valid:
            self.stdout.write(WORDS[found.verdict])
        for name, value in found.statement.items():
            self.stdout.write(f"{name}: {value}")
        if not found.is_valid:
            raise CommandError(WORDS[found.verdict], returncode=1)
