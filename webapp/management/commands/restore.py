"""`manage.py restore FILE`: the database as a backup holds it (docs/running.md)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser

from webapp import clock
from webapp.management.quick import QuickCommand
from webapp.services.ops import backup_file


class Command(QuickCommand):
    help = "Make the database what a backup holds; every process of Parley must be stopped."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument(
            "--force", action="store_true", help="replace what is there, after a backup of it"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            self._restore(options["file"], force=options["force"])
        except (backup_file.Failed, OSError) as problem:
            raise CommandError(str(problem)) from problem

    def _restore(self, path: Path, *, force: bool) -> None:
        backup_file.check(path)
        if not backup_file.is_empty():
            self._make_way(force=force)
        backup_file.restore(path)
        self.stdout.write(f"restored {path}")
        unknown = backup_file.unknown_migrations()
        if unknown:
            raise CommandError(f"it is of a newer Parley, install that one: {', '.join(unknown)}")
        self.stdout.write("next: .venv/bin/python manage.py migrate")

    def _make_way(self, *, force: bool) -> None:
        if not force:
            raise CommandError("the database is not empty; --force replaces it, after a backup")
        alive = backup_file.running(clock.now())
        if alive:
            raise CommandError(
                f"Parley is running, stop it first: {', '.join(alive)} "
                f"(a process that was killed counts for {backup_file.ALIVE.seconds} s)"
            )
        saved = backup_file.backup(folder=settings.DATA_DIR / "backups", now=clock.now())
        self.stdout.write(f"what was there is kept: {saved}")
