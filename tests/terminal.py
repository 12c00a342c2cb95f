"""Somebody at a terminal in a fresh clone: a shell with an environment that is empty at first.

Folders of a server lie below the test's own, servers listen on a free port, and what runs until it
is stopped is stopped once it does its work.
"""

from __future__ import annotations

import os
import re
import signal
import sqlite3
import subprocess
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Timer

import httpx

from tests.servers import free_port

FOLDERS = ("/var/lib/parley", "/srv/backups")
PATIENCE = 90.0  # seconds for a command to start or to end


@dataclass
class Shell:
    """Somebody at a terminal in the clone, with what they have exported so far."""

    clone: Path
    folders: Path
    env: dict[str, str] = field(default_factory=dict)
    seen: set[tuple[str, str]] = field(default_factory=set)  # processes that gave a sign of life

    @property
    def data(self) -> Path:
        return Path(self.env.get("DATA_DIR", str(self.clone / "var")))

    def run(self, command: str) -> None:
        """Run a command to its end, or until it does its work; it must not fail."""
        exported = re.fullmatch(r"export (\w+)=(\S*)", command)
        if exported:
            self.env[exported[1]] = exported[2]
            return
        ready = next((check for start, check in READY.items() if start in command), None)
        if ready is None:
            self._end(command)
        else:
            self._serve(command, ready)

    def begin(self, command: str) -> subprocess.Popen[str]:
        for folder in FOLDERS:
            (self.folders / folder.lstrip("/")).mkdir(parents=True, exist_ok=True)
            command = command.replace(folder, f"{self.folders}{folder}")
        return subprocess.Popen(
            ["bash", "-c", command],
            cwd=self.clone,
            env={"HOME": str(self.folders), "PATH": os.defpath, **self.env},
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )

    def _end(self, command: str) -> None:
        process = self.begin(command)
        try:
            said, _ = process.communicate(timeout=PATIENCE)
        finally:
            _stop(process, signal.SIGKILL)
        assert process.returncode == 0, f"{command}\n{said}"

    def _serve(self, command: str, ready: Ready) -> None:
        port = free_port()
        command = command.replace("--port 8000", f"--port {port}")
        command += f" --port {port}" if command.endswith("manage.py serve") else ""
        process = self.begin(command)
        alarm = Timer(PATIENCE, _stop, (process, signal.SIGKILL))
        alarm.start()
        try:
            while not ready(self, process, port):
                assert process.poll() is None, f"{command} ended, or did nothing in {PATIENCE} s"
                time.sleep(0.1)
        finally:
            alarm.cancel()
            _stop(process, signal.SIGTERM)


def _stop(process: subprocess.Popen[str], how: signal.Signals) -> None:
    """End a command with all that it started, also what outlives it: the group keeps its number."""
    for each in (how, signal.SIGKILL):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, each)
        with suppress(subprocess.TimeoutExpired):
            process.communicate(timeout=20)
            break
    with suppress(ProcessLookupError):  # who let go of the pipe and stayed
        os.killpg(process.pid, signal.SIGKILL)


# --- what runs until it is stopped --------------------------------------------------------------

Ready = Callable[[Shell, "subprocess.Popen[str]", int], bool]


def answers(shell: Shell, process: subprocess.Popen[str], port: int) -> bool:
    """Tell whether the login page comes, as a proxy with HTTPS asks for it."""
    host = shell.env.get("ALLOWED_HOSTS", f"127.0.0.1:{port}")
    headers = {"Host": host, "X-Forwarded-Proto": "https", "X-Forwarded-For": "192.0.2.1"}
    try:
        page = httpx.get(f"http://127.0.0.1:{port}/login/", headers=headers, timeout=10)
    except httpx.TransportError:
        return False
    assert page.status_code == 200, f"{page.url} answers {page.status_code}"
    return "Sign in" in page.text


def gives_a_sign(shell: Shell, process: subprocess.Popen[str], port: int) -> bool:
    """Tell whether a reply worker or a sweeper has given a sign of life, a new one."""
    database = sqlite3.connect(shell.data / "parley.sqlite3")
    try:
        found = database.execute(
            "SELECT name, kind FROM webapp_heartbeat WHERE kind IN ('replies', 'sweeper')"
        )
        new = set(found.fetchall()) - shell.seen
    finally:
        database.close()
    shell.seen |= new
    return bool(new)


READY: Mapping[str, Ready] = {
    "manage.py serve": answers,
    "uvicorn ": answers,
    "celery -A webapp worker": gives_a_sign,
    "manage.py sweep": gives_a_sign,
}
