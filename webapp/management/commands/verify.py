"""`manage.py verify`: is all as it should be? `manage.py verify RECEIPT`: is that one true?"""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from webapp import clock
from webapp.management.quick import QuickCommand
from webapp.services.ops import verifying
from webapp.services.receipts import checking
from webapp.services.receipts.checking import ReceiptVerdict

WORDS = {
    ReceiptVerdict.FORGED: "not valid: this server did not sign it, or it was changed",
    ReceiptVerdict.UNKNOWN: "signed by this server, but the database does not have it",
    ReceiptVerdict.DIFFERS: "signed by this server, but the database has something else",
    ReceiptVerdict.DELETED: "valid: signed by this server; the words were deleted by a withdrawal",
    ReceiptVerdict.MATCHES: "valid: signed by this server, and the database has what it confirms",
}


class Command(QuickCommand):
    help = "Check counts, money, ratings, the log and receipts; a line for each fault, exit 1."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("receipt", nargs="?", default="", help="what a participant has")
        words = "the words that a message's receipt is said to be of: are they?"
        parser.add_argument("--text", default="", help=words)

    def handle(self, *args: Any, **options: Any) -> None:
        if options["receipt"]:
            self._check(options["receipt"], options["text"])
            return
        faults = 0
        for finding in verifying.findings(clock.now()):
            self.stdout.write(str(finding))
            faults += 1
        if faults:
            raise CommandError(f"{faults} faults", returncode=1)
        self.stdout.write(f"no fault by {len(verifying.CHECKS)} checks")

    def _check(self, receipt: str, text: str) -> None:
        found = checking.check(receipt)
        if found.is_valid:
            self.stdout.write(WORDS[found.verdict])
        for name, value in found.statement.items():
            self.stdout.write(f"{name}: {value}")
        if text and found.statement:
            is_of = checking.is_of(found.statement, text)
            self.stdout.write(f"these words: {'are' if is_of else 'are not'} what it confirms")
        if not found.is_valid:
            raise CommandError(WORDS[found.verdict], returncode=1)
