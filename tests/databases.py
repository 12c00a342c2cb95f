"""Migrated databases: an SQLite file begins as a copy of one that went through the same migrations.

Every migration takes two seconds from nothing, and most servers of tests begin with nothing. The
copy is migrated as well, so that it is right whatever it was copied from.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import cache
from pathlib import Path

import django

ROOT = Path(__file__).parents[1]


def put_copy(file: Path) -> bool:
    """Put a migrated database where no file is yet, if one was kept; return whether it did."""
    if file.exists() or not _kept().exists():
        return False
    shutil.copyfile(_kept(), file)
    return True


@contextmanager
def copied(file: Path) -> Iterator[None]:
    """Put a copy where no file is yet; without one, keep what is migrated inside."""
    whole = file.exists() or put_copy(file)
    yield
    if whole or _kept().exists():
        return
    _kept().parent.mkdir(mode=0o700, exist_ok=True)
    part = _kept().with_suffix(f".{os.getpid()}")
    part.unlink(missing_ok=True)
    with closing(sqlite3.connect(file)) as made:
        made.execute("VACUUM INTO ?", (str(part),))
    part.replace(_kept())


def migrate() -> None:
    """Migrate the database of the settings."""
    from django.core.management import call_command
    from django.db import connection

    if connection.vendor != "sqlite":
        call_command("migrate", verbosity=0, skip_checks=True)
        return
    with copied(Path(connection.settings_dict["NAME"])):
        call_command("migrate", verbosity=0, skip_checks=True)


@cache
def _kept() -> Path:
    found = hashlib.sha256(django.__version__.encode())
    for file in sorted((ROOT / "webapp" / "migrations").glob("*.py")):
        found.update(file.name.encode() + file.read_bytes())
    return ROOT / "var" / f"migrated-{found.hexdigest()[:16]}.sqlite3"
