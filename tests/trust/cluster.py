"""Servers that are killed: one process group on SQLite, or several processes on real servers.

A killed process is started again at once, as a supervisor would.
"""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[2]
PATIENCE = 120.0  # seconds until a server answers: where others want the processor, too
LIFE = 2.5  # seconds that a process is up before it is killed again, or as long as its start took


@dataclass
class Process:
    """One program that is kept running."""

    name: str
    command: Sequence[str]
    env: Mapping[str, str]
    log: Path
    base: str = ""  # the address of a web server
    running: subprocess.Popen[bytes] | None = None
    started_at: float = 0.0
    up_at: float | None = None

    def start(self) -> None:
        self.started_at = time.monotonic()
        self.up_at = None if self.base else self.started_at + LIFE
        with self.log.open("ab") as log:
            self.running = subprocess.Popen(
                list(self.command),
                cwd=ROOT,
                env=dict(self.env),
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def look(self) -> bool:
        """Note when it is up, and tell whether it has been for long enough to be killed.

        On a slow machine whatever is done in a life takes longer, as the start does.
        """
        if self.up_at is None and answers(self.base):
            self.up_at = time.monotonic()
        if self.up_at is None:
            return False
        return time.monotonic() - self.up_at > max(LIFE, self.up_at - self.started_at)

    def children(self) -> list[int]:
        if self.running is None:
            return []
        found = subprocess.run(
            ["pgrep", "-P", str(self.running.pid)], capture_output=True, text=True, check=False
        )
        return [int(pid) for pid in found.stdout.split()]

    def kill(self) -> None:
        """`kill -9`; what it had started is left to notice by itself."""
        if self.running is not None:
            self.running.kill()
            self.running.wait()

    def end(self) -> None:
        """End it and all that it started."""
        if self.running is None:
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.running.pid, signal.SIGKILL)
        self.running.wait()


@dataclass
class Kill:
    """When something was killed."""

    at: float
    what: str


@dataclass
class Cluster:
    """The processes of one installation, and the addresses of its web servers."""

    bases: tuple[str, ...]
    processes: list[Process]
    kills: list[Kill] = field(default_factory=list)

    def start(self) -> None:
        for process in self.processes:
            process.start()
        for base in self.bases:
            wait_for(base)

    def kill_one(self, chance: random.Random) -> bool:
        """Kill a process, or a child that runs a bot, and start it again; False: all just began.

        What has not come up yet is spared: on a busy machine that takes longer than until the next
        kill, and a server that never runs shows nothing.
        """
        candidates = [process for process in self.processes if process.look()]
        if not candidates:
            return False
        victim = chance.choice(candidates)
        children = victim.children()
        if children and chance.random() < 0.3:
            with contextlib.suppress(ProcessLookupError):
                os.kill(chance.choice(children), signal.SIGKILL)
            self.kills.append(Kill(time.monotonic(), f"a child of {victim.name}"))
            return True
        self.kill(victim)
        return True

    def kill(self, victim: Process) -> None:
        """Kill a process, and start it again."""
        victim.kill()
        self.kills.append(Kill(time.monotonic(), victim.name))
        victim.start()

    def end(self) -> None:
        for process in self.processes:
            process.end()


@contextlib.contextmanager
def running(cluster: Cluster) -> Iterator[Cluster]:
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.end()


def wait_for(base: str) -> None:
    """Wait until a web server answers, whatever it says."""
    end = time.monotonic() + PATIENCE
    while not answers(base):
        if time.monotonic() > end:
            raise RuntimeError(f"{base} does not answer")
        time.sleep(0.1)


def answers(base: str) -> bool:
    try:
        urllib.request.urlopen(f"{base}/static/none", timeout=1)  # noqa: S310 (loopback)
    except urllib.error.HTTPError:
        return True
    except OSError:
        return False
    return True


def embedded(
    ports: Sequence[int], env: Mapping[str, str], folder: Path, *, bug: str = ""
) -> Cluster:
    """Process groups of pages, sockets, reply workers and the sweeper; mostly one is enough."""
    processes = [
        Process(
            f"serve {port}",
            [*_manage(bug), "serve", "--port", str(port)],
            env,
            folder / f"serve{port}.log",
            f"http://127.0.0.1:{port}",
        )
        for port in ports
    ]
    return Cluster(tuple(f"http://127.0.0.1:{port}" for port in ports), processes)


def distributed(
    ports: Sequence[int],
    bots: Sequence[str],
    env: Mapping[str, str],
    folder: Path,
    *,
    bug: str = "",
) -> Cluster:
    """Web servers and as many reply workers, and one sweeper, each a process."""
    queues = ",".join(f"bot.{bot}" for bot in bots)
    launch = [sys.executable, "-m", "tests.trust.sabotage", bug]
    processes = []
    for number, port in enumerate(ports, start=1):
        web = ["uvicorn", "webapp.asgi:application", "--port", str(port), "--log-level", "warning"]
        worker = ["celery", "-A", "webapp", "worker", "-Q", queues, "-P", "solo"]
        worker += ["-n", f"replies{number}", "--without-gossip", "--without-mingle"]
        processes.append(
            Process(
                f"web {number}",
                [*launch, *web],
                env,
                folder / f"web{number}.log",
                f"http://127.0.0.1:{port}",
            )
        )
        processes.append(
            Process(f"replies {number}", [*launch, *worker], env, folder / f"replies{number}.log")
        )
    processes.append(Process("sweep", [*_manage(bug), "sweep"], env, folder / "sweep.log"))
    return Cluster(tuple(f"http://127.0.0.1:{port}" for port in ports), processes)


def _manage(bug: str) -> list[str]:
    if not bug:
        return [sys.executable, "manage.py"]
    return [sys.executable, "-m", "tests.trust.sabotage", bug, "manage"]
