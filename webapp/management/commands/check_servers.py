"""`manage.py check_servers`: is the database, and the broker, safe to run a study on?"""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError

from webapp.management.quick import QuickCommand
from webapp.services.ops import server_checks


class Command(QuickCommand):
    help = "Look at the settings of the database and of Redis; exit 1 where one is unsafe."

    def handle(self, *args: Any, **options: Any) -> None:
        found = server_checks.checks()
        for check in found:
            self.stdout.write(f"{'ok  ' if check.ok else 'FAIL'} {check.name}: {check.text}")
        failed = sum(not check.ok for check in found)
        if failed:
            raise CommandError(f"{failed} of {len(found)} checks failed", returncode=1)
