"""Create an account for the requester's pages: manage.py staff NAME, never a default password.

Or, with --anew, give one that exists another first password.
"""

from __future__ import annotations

import getpass
import sys
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.management.base import CommandError, CommandParser

from webapp import clock
from webapp.management.quick import QuickCommand
from webapp.services.accounts import addresses, logins, projects
from webapp.services.rules.access import Role


class Command(QuickCommand):
    help = "Create an account for the requester's pages. Asks for a password, or makes one."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="the name to sign in with")
        parser.add_argument(
            "--generate", action="store_true", help="make a password and print it once"
        )
        parser.add_argument(
            "--anew",
            action="store_true",
            help="make another first password for an account that exists; its sessions end",
        )
        parser.add_argument("--email", default="", help="where alarms are mailed to")
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
        anew: bool,
        email: str,
        superuser: bool,
        project: str,
        roles: list[str] | None,
        **kwargs: Any,
    ) -> None:
        if anew:
            if generate or email or superuser or project or roles:
                raise CommandError("--anew changes the password of an account, and nothing else")
            self._draw_anew(name)
            return
        password = logins.new_password() if generate else self._ask()
        try:
            logins.create_staff(
                username=name,
                password=password,
                superuser=superuser,
                now=clock.now(),
                project=project,
                roles=[Role(role) for role in roles or [Role.ADMINISTRATOR]],
                is_drawn=generate,
                email=addresses.parse(email),
            )
        except addresses.BadAddress as problem:
            raise CommandError(f"--email {email} {problem}") from None
        except projects.LastAdministrator:
            raise CommandError(
                f"there is no project {project or name!r}: its first member must have the role "
                "administrator"
            ) from None
        except logins.NameTaken:
            raise CommandError(
                f"there is an account {name!r}; manage.py changepassword sets a new password, "
                "--anew makes another first one"
            ) from None
        except ValidationError as problem:
            raise CommandError("; ".join(problem.messages)) from None
        self.stdout.write(f"account {name} created")
        if generate:
            self._hand_over(password)

    def _draw_anew(self, name: str) -> None:
        try:
            self._hand_over(logins.draw_anew(username=name, now=clock.now()))
        except logins.NoAccount:
            raise CommandError(f"there is no account of staff {name!r}") from None

    def _hand_over(self, password: str) -> None:
        self.stdout.write(f"password: {password}")
        if days := settings.FIRST_PASSWORD_DAYS:
            self.stdout.write(
                f"it is good for {days} days, and has to be changed at the first login"
            )

    def _ask(self) -> str:
        if not sys.stdin.isatty():
            raise CommandError("nobody can be asked for a password here; use --generate")
        first, second = getpass.getpass("Password: "), getpass.getpass("Password again: ")
        if first != second:
            raise CommandError("the two passwords differ; nothing was created")
        return first
