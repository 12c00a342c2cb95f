"""Backup while everything runs, and restore (R30): one file that holds the whole database.

SQLite writes its copy by VACUUM INTO, PostgreSQL by pg_dump. Both read one snapshot and let writers
go on: everything committed before the backup began is in it, nothing is in it by half.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path
from urllib.parse import quote

from django.db import DatabaseError, connection, transaction
from django.db.migrations.loader import MigrationLoader

from webapp.models import Heartbeat

SUFFIXES = {"sqlite": ".sqlite3", "postgresql": ".pgdump"}
BEGINNINGS = {"sqlite": b"SQLite format 3\0", "postgresql": b"PGDMP"}
ALIVE = timedelta(seconds=15)  # three heartbeats of a reply worker
POSTGRES_PATHS = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)  # Debian's


class Failed(Exception):
    """What could not be done, and why; whatever was there before is as it was."""


def backup(*, folder: Path, now: datetime) -> Path:
    """Write a backup that only its owner can read into a folder; return its path.

    It gets its name when it is complete and on the disk.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = folder / f"parley-{now:%Y%m%d-%H%M%S-%f}{SUFFIXES[connection.vendor]}"
    partial = path.with_name(f"{path.name}.partial")
    os.close(os.open(partial, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    try:
        _dump(partial)
        check(partial)
        _sync(partial)
        partial.rename(path)
        _sync(folder)
    finally:
        partial.unlink(missing_ok=True)
    return path


def prune(*, folder: Path, keep: int) -> list[Path]:
    """Delete all but the newest backups of a folder, by their names; return those deleted."""
    found = sorted(folder.glob(f"parley-*{SUFFIXES[connection.vendor]}"), reverse=True)
    for old in found[keep:]:
        old.unlink()
    return found[keep:]


def is_empty() -> bool:
    """Tell whether the database has no table yet."""
    return not connection.introspection.table_names()


def running(now: datetime) -> list[str]:
    """Return the processes of the platform that gave a sign of life a moment ago."""
    if Heartbeat._meta.db_table not in connection.introspection.table_names():
        return []
    rows = Heartbeat.objects.filter(seen_at__gt=now - ALIVE, kind__in=("replies", "sweeper"))
    return sorted(rows.values_list("name", flat=True))


def check(path: Path) -> None:
    """Refuse a file that is not a whole backup for this kind of database."""
    with path.open("rb") as file:
        start = file.read(16)
    if not start.startswith(BEGINNINGS[connection.vendor]):
        raise Failed(f"{path}: is not a backup of a {connection.display_name} database")
    if connection.vendor == "postgresql":
        try:
            _run(["pg_restore", "--file", os.devnull, str(path)])  # reads all of it
        except Failed as problem:
            raise Failed(f"{path}: is damaged: {problem}") from problem
        return
    try:
        with closing(_open(path)) as copy:
            found = copy.execute("PRAGMA quick_check(1)").fetchone()[0]
            copy.execute("SELECT count(*) FROM django_migrations")
    except sqlite3.Error as problem:
        raise Failed(f"{path}: is damaged, or not Parley's: {problem}") from problem
    if found != "ok":
        raise Failed(f"{path}: is damaged: {found}")


def restore(path: Path) -> None:
    """Replace whatever the database holds by what a backup holds."""
    check(path)
    if connection.vendor == "postgresql":
        _drop_all()
        how = ["--no-owner", "--no-privileges", "--exit-on-error", "--single-transaction"]
        _run(["pg_restore", *how, "--dbname", connection.settings_dict["NAME"], str(path)])
        return
    connection.ensure_connection()
    with closing(_open(path)) as copy:
        try:
            copy.backup(connection.connection)
        except sqlite3.Error as problem:
            raise Failed(f"the database could not be written: {problem}") from problem
    connection.close()


def unknown_migrations() -> list[str]:
    """Return migrations of the database that this version of Parley does not have."""
    loader = MigrationLoader(connection)
    return sorted(
        ".".join(one) for one in set(loader.applied_migrations) - {*loader.disk_migrations}
    )


def _dump(path: Path) -> None:
    if connection.vendor == "postgresql":
        _run(["pg_dump", "--format=custom", "--file", str(path)])
        return
    try:
        with connection.cursor() as cursor:
            cursor.execute("VACUUM INTO %s", [str(path)])
    except DatabaseError as problem:
        raise Failed(f"{path}: could not be written: {problem}") from problem


def _open(path: Path) -> sqlite3.Connection:
    """Open a file that nobody writes, without leaving others beside it."""
    return sqlite3.connect(f"file:{quote(str(path.resolve()))}?mode=ro&immutable=1", uri=True)


def _sync(path: Path) -> None:
    """Wait until a file, or a folder's list of names, is on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _drop_all() -> None:
    """Drop every table in one transaction; it fails where another process holds one of them."""
    quoted = [connection.ops.quote_name(name) for name in connection.introspection.table_names()]
    if not quoted:
        return
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(f"DROP TABLE {', '.join(quoted)} CASCADE")
    except DatabaseError as problem:
        raise Failed(f"the tables are in use; stop every process of Parley: {problem}") from problem
    connection.close()


def _run(command: Sequence[str]) -> None:
    program = _program(command[0])
    done = subprocess.run(  # noqa: S603 (PostgreSQL's own programs, no shell)
        [program, *command[1:]], env=_environment(), capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise Failed(f"{command[0]}: {done.stderr.strip() or f'exit {done.returncode}'}")


def _program(name: str) -> str:
    """Return PostgreSQL's program, the newest one: an older one refuses a newer server."""
    for folder in POSTGRES_PATHS:
        if (found := shutil.which(name, path=str(folder))) is not None:
            return found
    if (found := shutil.which(name)) is not None:
        return found
    raise Failed(f"no program {name}; install PostgreSQL's client programs")


def _environment() -> Mapping[str, str]:
    """Tell libpq by its variables where the database is: a password is no argument."""
    where = connection.settings_dict
    named = {
        "PGHOST": where["HOST"],
        "PGPORT": where["PORT"],
        "PGUSER": where["USER"],
        "PGPASSWORD": where["PASSWORD"],
        "PGDATABASE": where["NAME"],
    }
    for option in ("sslmode", "sslrootcert", "sslcert", "sslkey", "passfile"):
        named[f"PG{option.upper()}"] = where["OPTIONS"].get(option, "")
    return {**os.environ, **{name: str(value) for name, value in named.items() if value}}
