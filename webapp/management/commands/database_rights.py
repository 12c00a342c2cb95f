"""`manage.py database_rights ACCOUNT`: a reply worker's rights for an account of PostgreSQL."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from webapp.management.quick import QuickCommand
from webapp.services.ops import database_rights


class Command(QuickCommand):
    help = "Give an account of PostgreSQL a reply worker's rights, and no others; after migrate."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("account", help="which has to exist: CREATE ROLE parley_replies LOGIN")

    def handle(self, *args: Any, account: str, **options: Any) -> None:
        try:
            count = database_rights.grant(account)
        except database_rights.NotPossible as problem:
            raise CommandError(str(problem)) from None
        self.stdout.write(f"{account} has {count} rights of a reply worker, and no others")
