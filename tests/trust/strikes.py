"""The faults of the matrix: what each does to an installation, and what mends it again.

Apart because the command only chooses among them and counts what came of it.
"""

from __future__ import annotations

import os
import shutil
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import psycopg
import redis

from tests.servers import PATIENCE, PostgreSQL
from tests.trust import cluster
from tests.trust.cables import Cables
from tests.trust.serving import Broker

LENGTH = 12.0  # seconds that something stands still: longer than what counts as an outage
HOUR = 3600


@dataclass
class Site:
    """An installation whose every part can be struck; None is what it does without."""

    running: cluster.Cluster
    cables: Cables
    postgres: PostgreSQL | None = None
    broker: Broker | None = None
    disk: Path | None = None  # a small file system of its own, on which all is stored
    notes: list[str] = field(default_factory=list)

    def process(self, name: str) -> cluster.Process:
        """Return the first process of a kind; where one process is everything, that one."""
        fitting = (each for each in self.running.processes if each.name.startswith(name))
        return next(fitting, self.running.processes[0])


class NotRun(Exception):
    """This machine lacks what a fault needs, or the installation has nothing to be struck."""


Strike = Callable[[Site], None]
STRIKES: dict[str, Strike] = {}


def strike(name: str) -> Callable[[Strike], Strike]:
    """Let a function be the fault of this name."""

    def add(function: Strike) -> Strike:
        STRIKES[name] = function
        return function

    return add


def _part(name: str) -> None:
    """Let one kind of process be stopped for a while, and killed."""

    def stop(site: Site) -> None:
        process = _own(site, name)
        os.killpg(process.running.pid, signal.SIGSTOP)  # type: ignore[union-attr]
        time.sleep(LENGTH)
        os.killpg(process.running.pid, signal.SIGCONT)  # type: ignore[union-attr]

    def kill(site: Site) -> None:
        process = _own(site, name)
        process.kill()
        process.start()

    STRIKES[f"stop-{name}"], STRIKES[f"kill-{name}"] = stop, kill


def _own(site: Site, name: str) -> cluster.Process:
    if len(site.running.processes) == 1 and name != "web":
        raise NotRun("one process is web, worker and sweeper: see that of web")
    return site.process(KINDS[name])


KINDS = {"web": "web", "worker": "replies", "sweeper": "sweep"}
for _name in KINDS:
    _part(_name)


@strike("broker-stop")
def stop_broker(site: Site) -> None:
    """The broker hangs: connections stay, nothing answers."""
    with redis.from_url(_broker(site).url) as known:
        pid = known.info("server")["process_id"]
    os.kill(pid, signal.SIGSTOP)
    time.sleep(LENGTH)
    os.kill(pid, signal.SIGCONT)


@strike("broker-flush")
def flush_broker(site: Site) -> None:
    """The broker is killed and comes back a while later without anything it had."""
    _broker(site).kill()
    time.sleep(LENGTH / 2)
    _broker(site).start()


def _broker(site: Site) -> Broker:
    if site.broker is None:
        raise NotRun("there is no broker")
    return site.broker


@strike("database-restart")
def restart_database(site: Site) -> None:
    """The database crashes, and recovers from its log."""
    _server(site).end(signal.SIGQUIT)
    time.sleep(LENGTH / 4)
    _server(site).start()


@strike("database-cut")
def cut_database(site: Site) -> None:
    """Every connection to the database is broken, at whatever statement it is."""
    others = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
    others += " WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'"
    for _ in range(5):
        with psycopg.connect(_server(site).url) as connection:
            connection.execute(others)
        time.sleep(0.5)


def _server(site: Site) -> PostgreSQL:
    if site.postgres is None:
        raise NotRun("the database is no server")
    return site.postgres


@strike("tcp-cut")
def cut_cables(site: Site) -> None:
    """All lines between people and the web are broken, several times."""
    count = 0
    for _ in range(6):
        count += site.cables.cut()
        time.sleep(1.0)
    site.notes.append(f"{count} connections were cut")


@strike("disk-full")
def fill_disk(site: Site) -> None:
    """Nothing more can be stored; a database that ended over it is started again, with space."""
    if site.disk is None:
        raise NotRun("a small file system cannot be mounted here")
    ballast = site.disk / "ballast"
    with ballast.open("wb") as file:
        for size in (1 << 20, 1 << 12):
            _fill(file.fileno(), size)
    free = shutil.disk_usage(site.disk).free
    time.sleep(LENGTH)
    ballast.unlink()
    site.notes.append(f"{free} bytes were free")
    server = site.postgres
    if server is not None and server.process is not None and server.process.poll() is not None:
        server.start()


def _fill(file: int, size: int) -> None:
    end = os.fstat(file).st_size
    while True:
        try:
            os.posix_fallocate(file, end, size)
        except OSError:
            return
        end += size


def _clock(name: str, seconds: int) -> None:
    def strike_clock(site: Site) -> None:
        """Let every process of the installation in turn have a host whose clock is off."""
        if shutil.which("faketime") is None:
            raise NotRun("no faketime: install it")
        for process in site.running.processes:
            if process.name.endswith(" 2"):
                continue
            right = process.command
            process.end()
            process.command = ["faketime", "-f", f"{seconds:+d}s", *right]
            process.start()
            _wait(process)
            time.sleep(LENGTH / 2)
            process.end()
            process.command = right
            process.start()
            _wait(process)

    STRIKES[name] = strike_clock


def _wait(process: cluster.Process) -> None:
    """Wait until a web server answers; another process is given a while."""
    if process.base:
        cluster.wait_for(process.base)
        return
    end = time.monotonic() + PATIENCE
    while not process.look() and time.monotonic() < end:
        time.sleep(0.1)


_clock("clock-ahead", HOUR)
_clock("clock-behind", -HOUR)
