"""Migrated databases: an SQLite file begins as a copy of one that went through the same migrations.

Every migration takes two seconds from nothing, and most servers of tests begin with nothing. What
is kept is named by what the migrations contain and by the version of Django, so a copy is whole.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager, nullcontext
from functools import cache
from pathlib import Path

import django
from filelock import FileLock

ROOT = Path(__file__).parents[1]


def put_copy(file: Path) -> bool:
    """Put a migrated database where no file is yet, if one was kept; return whether it did."""
    if file.exists() or not _kept().exists():
        return False
    shutil.copyfile(_kept(), file)
    return True


@contextmanager
def kept(file: Path) -> Iterator[None]:
    """Keep what is migrated inside, if the file is new."""
    old = file.exists()
    yield
    if old or _kept().exists():
        return
    _kept().parent.mkdir(mode=0o700, exist_ok=True)
    part = _kept().with_suffix(f".{os.getpid()}")
    part.unlink(missing_ok=True)
    with closing(sqlite3.connect(file)) as made:
        made.execute("VACUUM INTO ?", (str(part),))
    part.replace(_kept())


def make_copy() -> None:
    """Migrate a database for later tests, unless one is kept; others that want it wait."""
    _kept().parent.mkdir(mode=0o700, exist_ok=True)
    with FileLock(_kept().with_suffix(".lock")), tempfile.TemporaryDirectory() as folder:
        if _kept().exists():
            return
        file = Path(folder) / "made.sqlite3"
        environment = {**os.environ, "DEBUG": "1", "DATABASE_URL": f"sqlite:///{file}"}
        command = [sys.executable, "manage.py", "migrate", "--verbosity=0", "--skip-checks"]
        with kept(file):
            subprocess.run(command, cwd=ROOT, env=environment, check=True)


def migrate() -> None:
    """Migrate the database of the settings."""
    from django.core.management import call_command
    from django.db import connection

    file = Path(connection.settings_dict["NAME"]) if connection.vendor == "sqlite" else None
    if file and put_copy(file):
        return
    with kept(file) if file else nullcontext():
        call_command("migrate", verbosity=0, skip_checks=True)


@cache
def _kept() -> Path:
    found = hashlib.sha256(django.__version__.encode())
    for file in sorted((ROOT / "webapp" / "migrations").glob("*.py")):
        found.update(file.name.encode() + file.read_bytes())
    return ROOT / "var" / f"migrated-{found.hexdigest()[:16]}.sqlite3"
