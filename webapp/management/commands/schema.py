"""`manage.py schema`: write docs/protocol/ from the types of frames and the route table."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError

from webapp.management.quick import QuickCommand
from webapp.management.schema import documents

FOLDER = settings.BASE_DIR / "docs" / "protocol"


class Command(QuickCommand):
    help = "Write the schema of the wire, docs/protocol/*.json, from the code."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--check", action="store_true", help="write nothing; fail where a file differs"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        made = documents.documents()
        differing = [name for name, text in made.items() if _stored(name) != text]
        if options["check"] and differing:
            raise CommandError(f"{', '.join(differing)}: run manage.py schema", returncode=1)
        for name in differing:
            (FOLDER / name).write_text(made[name], encoding="utf-8")
            self.stdout.write(f"docs/protocol/{name}: written")
        if not differing:
            self.stdout.write(f"{', '.join(made)}: as the code has it")


def _stored(name: str) -> str:
    path = FOLDER / name
    return path.read_text(encoding="utf-8") if path.exists() else ""
