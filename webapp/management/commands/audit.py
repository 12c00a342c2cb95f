"""`manage.py audit`: is the log of what staff and the platform did as it was written?"""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError

from webapp.management.quick import QuickCommand
from webapp.models import AuditEntry
from webapp.services.rules import audit


class Command(QuickCommand):
    help = "Check the chain of the audit log; a line for each entry that does not fit, exit 1."

    def handle(self, *args: Any, **options: Any) -> None:
        faults = 0
        for fault in audit.faults():
            self.stdout.write(f"entry {fault.number}: {fault.why}")
            faults += 1
        count = AuditEntry.objects.count()
        if faults:
            raise CommandError(f"{faults} of {count} entries do not fit", returncode=1)
        self.stdout.write(f"{count} entries, each as it was written")
