"""Create an account for the requester's pages: manage.py staff NAME, never a default password."""

from __future__ import annotations

import getpass
import sys
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import CommandError, CommandParser

from webapp import clock
from webapp.management.quick import QuickCommand
from webapp.services.accounts import logins, projects
from webapp.services.rules.access import Role


class Command(QuickCommand):
    help = "Create an account for the requester's pages. Asks for a password, or makes one."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="the name to sign in with")
        parser.add_argument(
            "--generate", action="store_true", help="make a password and print it once"
        )
        parser.add_argument(
            "--superuser",
            action="store_true",
            help="is an administrator of every project, and may look at every row under /admin/",
        )
        parser.add_argument(
            "--project", default="", help="the project to join; by default one of the account's own"
        )
        parser.add_argument(
            "--role",
            dest="roles",
            action="append",
            choices=[str(role) for role in Role],
            help="what the account may do there, once for each role; by default all of it",
        )

    def handle(
        self,
        *args: Any,
        name: str,
        generate: bool,
        superuser: bool,
        project: str,
        roles: list[str] | None,
        **kwargs: Any,
    ) -> None:
        password = logins.new_password() if generate else self._ask()
        try:
            logins.create_staff(
                username=name,
                password=password,
                superuser=superuser,
                now=clock.now(),
                project=project,
                roles=[Role(role) for role in roles or [Role.ADMINISTRATOR]],
            )
        except projects.LastAdministrator:
            raise CommandError(
                f"there is no project {project or name!r}: its first member must have the role "
                "administrator"
            ) from None
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
