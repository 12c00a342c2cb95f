"""Backup under load and restore (R30, G20), on both databases, by the commands themselves.

Under load each command is a process, as for whoever runs it; elsewhere it is called in this one.
"""

from __future__ import annotations

import io
import os
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import environ
import psycopg
import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.db import connections
from django.db.utils import ConnectionHandler
from django.test import override_settings
from pytest_django import DjangoDbBlocker

from tests.databases import migrate
from tests.live import environment
from tests.webapp.sockets.writing import FILLER, write

pytestmark = pytest.mark.timeout(400)  # a command is a process, and each test needs several

ROOT = Path(__file__).parents[3]
Env = Mapping[str, str]
LOG = "SELECT seq, content FROM webapp_event ORDER BY conversation_id, seq"


def manage(env: Env, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "manage.py", *arguments]
    return subprocess.run(
        command, cwd=ROOT, env=dict(env), capture_output=True, text=True, check=False
    )


def ok(env: Env, *arguments: str) -> str:
    done = manage(env, *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module", autouse=True)
def _unblocked(django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """Let these tests connect: to databases of their own."""
    with django_db_blocker.unblock():
        yield


@contextmanager
def inside(env: Env) -> Iterator[None]:
    """Have this process's database and folder be those of an environment."""
    folder = Path(env["DATA_DIR"])
    found = dict(environ.Env.db_url_config(env.get("DATABASE_URL") or "sqlite://"))
    if "DATABASE_URL" not in env:
        found = {**settings.DATABASES["default"], **found, "NAME": folder / "parley.sqlite3"}
    was = connections["default"]
    connections["default"] = here = ConnectionHandler({"default": found})["default"]
    try:
        with override_settings(DATA_DIR=folder):
            yield
    finally:
        here.close()
        connections["default"] = was


def called(env: Env, *arguments: str) -> str:
    """Return what a command prints, which is called in this process."""
    told = io.StringIO()
    with inside(env):
        call_command(*arguments, stdout=told)
    return told.getvalue()


def query(env: Env, sql: str) -> list[tuple[Any, ...]]:
    """Ask the database of an environment, without Parley's own code."""
    if url := env.get("DATABASE_URL"):
        with psycopg.connect(url) as server:
            return list(server.execute(sql))
    with closing(sqlite3.connect(Path(env["DATA_DIR"]) / "parley.sqlite3")) as file:
        return list(file.execute(sql))


def change(env: Env, sql: str) -> None:
    """Change the database of an environment."""
    if url := env.get("DATABASE_URL"):
        with psycopg.connect(url) as server:
            server.execute(sql)
        return
    with closing(sqlite3.connect(Path(env["DATA_DIR"]) / "parley.sqlite3")) as file, file:
        file.execute(sql)


@contextmanager
def database(url: str, name: str, template: str = "template0") -> Iterator[str]:
    """A database of this server; "" stays "": an SQLite file in the folder of the data."""
    if not url:
        yield ""
        return
    address = f"{url.rpartition('/')[0]}/{name}"
    with psycopg.connect(url, autocommit=True) as server:
        server.execute(f"CREATE DATABASE {name} TEMPLATE {template}")
    try:
        yield address
    finally:
        with psycopg.connect(url, autocommit=True) as server:
            server.execute(f"DROP DATABASE {name} WITH (FORCE)")


def env_of(folder: Path, url: str) -> dict[str, str]:
    folder.mkdir(exist_ok=True)
    return environment(folder, **({"DATABASE_URL": url} if url else {}))


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest) -> str:
    """No address for SQLite, a server's for PostgreSQL."""
    if request.param == "sqlite":
        return ""
    return str(request.getfixturevalue("postgresql_url"))


@pytest.fixture(scope="module")
def first(url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The environment of a fresh database of this version, and FIRST, a backup of it."""
    with database(url, f"first_{os.getpid()}") as address:
        env = env_of(tmp_path_factory.mktemp("first"), address)
        with inside(env):
            migrate()
        yield env | {"FIRST": called(env, "backup").split()[0]}


@pytest.fixture
def old(url: str, first: dict[str, str], tmp_path: Path) -> Iterator[dict[str, str]]:
    """The same with a copy of that database."""
    with database(url, f"old_{os.getpid()}", f"first_{os.getpid()}") as address:
        env = env_of(tmp_path / "old", address)
        if not url:  # the backup of an SQLite database is an SQLite database
            shutil.copy(first["FIRST"], tmp_path / "old" / "parley.sqlite3")
        yield env | {"FIRST": first["FIRST"]}


@pytest.fixture
def new(url: str, tmp_path: Path) -> Iterator[dict[str, str]]:
    """The environment of a machine to move to: an empty database."""
    with database(url, f"new_{os.getpid()}") as address:
        yield env_of(tmp_path / "new", address)


class Writer:
    """A process that commits entries as fast as it can, and notes each commit in a file."""

    def __init__(self, env: Env) -> None:
        self.notes = Path(env["DATA_DIR"]) / "notes"
        with self.notes.open("w") as notes:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "tests.webapp.sockets.writing"],
                cwd=ROOT,
                env=dict(env),
                stdin=subprocess.PIPE,
                stdout=notes,
            )
        deadline = time.monotonic() + 60
        while not self.commits():
            assert self.process.poll() is None, "the writer ended at once"
            assert time.monotonic() < deadline, "the writer does not write"
            time.sleep(0.05)

    def commits(self) -> list[tuple[int, float]]:
        """Return seq and time of every commit noted so far."""
        lines = self.notes.read_text().rpartition("\n")[0].splitlines()
        return [(int(seq), float(at)) for seq, at in map(str.split, lines)]

    def end(self) -> list[tuple[int, float]]:
        self.process.communicate(timeout=30)
        return self.commits()


def test_a_backup_under_load_holds_all_that_was_committed_before(
    old: dict[str, str], new: dict[str, str], tmp_path: Path
) -> None:
    writer = Writer(old)
    began = time.time()
    told = ok(old, "backup", str(tmp_path / "safe"))
    ended = time.time()
    commits = writer.end()
    (path,) = (tmp_path / "safe").iterdir()
    assert told.startswith(str(path))

    ok(new, "restore", str(path))

    saved = query(new, LOG)
    before = sum(at < began for _, at in commits)
    assert len(saved) >= before + FILLER, "what was committed before the backup began is there"
    assert any(began < at < ended for _, at in commits), "there was load"
    assert saved == query(old, LOG)[: len(saved)], "entries are those that were written"
    assert len(saved) < FILLER + commits[-1][0], "a backup ends; what came later is not in it"
    last = query(new, "SELECT last_seq FROM webapp_conversation ORDER BY id")
    assert last == [(FILLER,), (len(saved) - FILLER,)], "no transaction is in it by half"

    assert "No migrations to apply" in ok(new, "migrate")
    assert Writer(new).end(), "the restored database goes on, new rows get numbers of their own"


def test_what_is_there_is_replaced_only_by_force_and_kept(old: dict[str, str]) -> None:
    with inside(old):
        write(lambda: False, print)
    written = query(old, LOG)
    assert len(written) == FILLER

    with pytest.raises(CommandError, match="not empty"):
        called(old, "restore", old["FIRST"])
    assert query(old, LOG) == written

    told = called(old, "restore", old["FIRST"], "--force")
    assert query(old, LOG) == []
    (kept,) = [line.split()[-1] for line in told.splitlines() if "is kept" in line]
    called(old, "restore", kept, "--force")
    assert query(old, LOG) == written


SIGN_OF_LIFE = """
INSERT INTO webapp_heartbeat (name, kind, bots, detail, seen_at)
VALUES ('host:1', 'replies', '[]', '{}', CURRENT_TIMESTAMP)
"""


def test_a_platform_that_runs_is_not_replaced(old: dict[str, str]) -> None:
    change(old, SIGN_OF_LIFE)
    with pytest.raises(CommandError, match="Parley is running, stop it first: host:1"):
        called(old, "restore", old["FIRST"], "--force")
    assert query(old, "SELECT name FROM webapp_heartbeat") == [("host:1",)]


@pytest.mark.parametrize("damage", ["cut", "other"])
def test_what_is_no_whole_backup_is_refused(
    first: dict[str, str], new: dict[str, str], damage: str, tmp_path: Path
) -> None:
    content = Path(first["FIRST"]).read_bytes()
    path = tmp_path / "damaged"
    path.write_bytes(content[: len(content) * 9 // 10] if damage == "cut" else b"a letter")
    refused = manage(new, "restore", str(path))
    assert refused.returncode != 0
    assert str(path) in refused.stderr
    assert "Traceback" not in refused.stderr


def test_backups_are_private_and_only_as_many_as_wanted(old: dict[str, str]) -> None:
    folder = Path(old["DATA_DIR"]) / "kept"
    folder.mkdir(mode=0o700)
    ages = [
        folder / Path(old["FIRST"]).name.replace("parley-20", f"parley-{age}") for age in (18, 19)
    ]
    for path in ages:
        path.touch()
    (folder / "notes.txt").touch()
    told = called(old, "backup", str(folder), "--keep", "2")
    made = Path(told.split()[0])
    assert sorted(folder.glob("*")) == sorted([folder / "notes.txt", ages[1], made])
    assert f"deleted {ages[0]}" in told
    assert made.stat().st_mode & 0o077 == 0


def test_none_is_not_a_number_of_backups() -> None:
    with pytest.raises(CommandError, match="--keep: is 0"):
        call_command("backup", keep=0)
