"""`manage.py check_assignments CAMPAIGN | FILE`: does who judged what keep the protocol's rules?"""

from __future__ import annotations

import zipfile
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from webapp.management.commands.export import campaign_of
from webapp.management.quick import QuickCommand
from webapp.services.data import assignment_rules


class Command(QuickCommand):
    help = "Check a campaign's answers, or its export, against the rules of assignment."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("campaign", help="its number or link, or an export's zip")

    def handle(self, *args: Any, **options: Any) -> None:
        name = options["campaign"]
        if name.endswith(".zip"):
            try:
                checked = assignment_rules.of_export(Path(name))
            except (OSError, KeyError, ValueError, zipfile.BadZipFile) as problem:
                raise CommandError(f"{name}: is no export that can be read ({problem})") from None
        else:
            checked = assignment_rules.of_campaign(campaign_of(name))
        for violation in checked.broken:
            self.stdout.write(str(violation))
        self.stdout.write(str(checked))
        if checked.broken:
            count = len(checked.broken)
            raise CommandError(f"{count} answers or items break a rule", returncode=1)
        self.stdout.write("every rule of assignment is kept")
