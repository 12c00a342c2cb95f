"""Create an account for the requester's pages: manage.py staff NAME, never a default password."""

from __future__ import annotations

import getpass
import sys
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser

from webapp import clock
from webapp.services.ops import logins


class Command(BaseCommand):
    help = "Create an account for the requester's pages. Asks for a password, or makes one."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="the name to sign in with")
        parser.add_argument(
            "--generate", action="store_true", help="make a password and print it once"
        )
        parser.add_argument(
            "--superuser", action="store_true", help="may also look at every row under /admin/"
        )

    def handle(self, *args: Any, name: str, generate: bool, superuser: bool, **kwargs: Any) -> None:
        password = logins.new_password() if generate else self._ask()
        try:
            logins.create_staff(
                username=name, password=password, superuser=superuser, now=clock.now()
            )
        except logins.NameTaken:
            raise CommandError(
                f"there is an account {name!r}; manage.py changepassword sets a new password"
            ) from None
        except ValidationError as problem:
            raise CommandError("; ".join(problem.messages)) from None
        self.stdout.write(f"account {name} created")
        if generate:
            self.stdout.write(f"password: {password}")

    def _ask(self) -> str:
        if not sys.stdin.isatty():
            raise CommandError("nobody can be asked for a password here; use --generate")
        first, second = getpass.getpass("Password: "), getpass.getpass("Password again: ")
        if first != second:
            raise CommandError("the two passwords differ; nothing was created")
        return first
