"""`manage.py second_factor NAME --off`: for who lost the phone and the recovery codes."""

from __future__ import annotations

from typing import Any

from django.contrib.auth import get_user_model
from django.core.management.base import CommandError, CommandParser

from webapp import clock
from webapp.management.quick import QuickCommand
from webapp.services.accounts import second_factor


class Command(QuickCommand):
    help = "Tell whether an account has a second factor; with --off, turn it off."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="the account")
        parser.add_argument("--off", action="store_true", help="turn it off; it is logged")

    def handle(self, *args: Any, name: str, off: bool, **options: Any) -> None:
        user = get_user_model().objects.filter(username=name).first()
        if user is None:
            raise CommandError(f"there is no account {name!r}")
        if off and not second_factor.turn_off(user=user, by="server", now=clock.now()):
            raise CommandError(f"{name} has no second factor")
        found = second_factor.state(user)
        words = f"on, {found.codes_left} recovery codes left" if found.is_on else "off"
        self.stdout.write(f"{name}: second factor {words}")
