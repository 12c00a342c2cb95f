"""End the sessions of an account, or of all: manage.py sign_out NAME | --all."""

from __future__ import annotations

from typing import Any

from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand, CommandError, CommandParser

from webapp import clock
from webapp.services.accounts import sessions


class Command(BaseCommand):
    help = "End all sessions of an account, or with --all of everybody; their next page is a login."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", nargs="?", default="", help="the account")
        parser.add_argument("--all", action="store_true", dest="everybody", help="everybody's")

    def handle(self, *args: Any, name: str, everybody: bool, **options: Any) -> None:
        if bool(name) == everybody:
            raise CommandError("name an account, or say --all")
        users = get_user_model().objects.order_by("pk")
        found = list(users if everybody else users.filter(username=name))
        if not found:
            raise CommandError(f"there is no account {name!r}")
        now = clock.now()
        count = sum(sessions.end_others(user=user, own=None, now=now) for user in found)
        self.stdout.write(f"{count} sessions ended")
