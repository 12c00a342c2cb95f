"""Migrated databases: each begins as a copy of one that went through the same migrations.

python -m tests.databases    migrates the database that the environment names

All migrations take seconds from nothing, and most servers of tests begin with nothing. What is kept
is named by what the migrations contain and by the version of Django, so a copy is whole: a file of
SQLite, or a dump of PostgreSQL by its major version.
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
from contextlib import closing, contextmanager
from functools import cache
from pathlib import Path

import django
from filelock import FileLock

from tests import servers

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
    if _restore() if file is None else put_copy(file):
        return
    with kept(file) if file else _dumped():
        call_command("migrate", verbosity=0, skip_checks=True)


def _restore() -> bool:
    """Fill an empty PostgreSQL from the dump, if one was kept; return whether it did."""
    from django.db import connection

    program = _postgres_program("pg_restore")
    if program is None or not _dump().exists() or connection.introspection.table_names():
        return False
    words = [
        "--no-owner",
        "--single-transaction",
        "--exit-on-error",
        "--dbname",
        _address(),
        str(_dump()),
    ]
    subprocess.run([program, *words], check=True)
    return True


@contextmanager
def _dumped() -> Iterator[None]:
    """Keep a dump of what is migrated inside, if nothing was there."""
    from django.db import connection

    program = _postgres_program("pg_dump")
    is_new = not connection.introspection.table_names()
    yield
    if program is None or not is_new or _dump().exists():
        return
    _dump().parent.mkdir(mode=0o700, exist_ok=True)
    part = _dump().with_suffix(f".{os.getpid()}")
    words = ["--format=custom", "--no-owner", "--file", str(part), "--dbname", _address()]
    subprocess.run([program, *words], check=True)
    part.replace(_dump())


def _dump() -> Path:
    from django.db import connection

    major = connection.cursor().connection.info.server_version // 10_000
    return _kept().with_suffix(f".postgresql{major}")


def _address() -> str:
    from django.db import connection
    from psycopg.conninfo import make_conninfo

    parts = connection.get_connection_params()
    named = ("host", "port", "user", "password", "dbname")
    return make_conninfo(**{name: parts[name] for name in named if parts.get(name)})


def _postgres_program(name: str) -> str | None:
    """Return where a program of PostgreSQL is, beside those of the servers that tests start."""
    places = [*map(str, servers.POSTGRES_PATHS), None]
    return next(filter(None, (shutil.which(name, path=place) for place in places)), None)


@cache
def _kept() -> Path:
    found = hashlib.sha256(django.__version__.encode())
    for file in sorted((ROOT / "webapp" / "migrations").glob("*.py")):
        found.update(file.name.encode() + file.read_bytes())
    return ROOT / "var" / f"migrated-{found.hexdigest()[:16]}.sqlite3"


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webapp.settings")
    django.setup()
    migrate()
