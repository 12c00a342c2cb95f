"""`manage.py backup`: the whole database as one file, while everything runs (docs/running.md)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser

from webapp import clock
from webapp.management.quick import QuickCommand
from webapp.services.ops import backup_file


class Command(QuickCommand):
    help = "Write the whole database into one file, while everything runs."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "folder", nargs="?", type=Path, default=settings.DATA_DIR / "backups", help="where to"
        )
        parser.add_argument(
            "--keep", type=int, metavar="N", help="then delete all backups there but the newest N"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        folder, keep = options["folder"], options["keep"]
        if keep is not None and keep < 1:
            raise CommandError(f"--keep: is {keep}, must be at least 1")
        try:
            path = backup_file.backup(folder=folder, now=clock.now())
        except (backup_file.Failed, OSError) as problem:
            raise CommandError(str(problem)) from problem
        self.stdout.write(f"{path} ({path.stat().st_size} bytes)")
        for old in backup_file.prune(folder=folder, keep=keep) if keep else ():
            self.stdout.write(f"deleted {old}")
