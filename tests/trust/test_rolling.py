"""A rolling restart under people who write: nobody is refused, no pair is parted (R41)."""

from __future__ import annotations

import asyncio
import contextlib
import json
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from tests import live, servers
from tests.trust import proxy, rolling

pytestmark = [pytest.mark.trust, pytest.mark.timeout(300)]
ROLL = [sys.executable, "script/roll"]


@pytest.mark.slow
def test_a_rolling_restart_refuses_parts_and_loses_nobody() -> None:
    proxy.program()
    words = ["-m", "tests.trust.rolling", "--people", "12", "--around", "5", "--late", "1"]
    done = subprocess.run(
        [sys.executable, *words], cwd=live.ROOT, capture_output=True, text=True, check=False
    )
    assert done.stdout.startswith("{"), done.stdout + done.stderr
    found = json.loads(done.stdout)
    assert (found["refused"], found["lost"], found["doubled"], found["torn"]) == ([], 0, 0, 0)
    assert found["sockets moved"] >= 9, "each socket is closed once at least"
    assert found["during"]["messages"] > 0
    assert done.returncode == 0


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_roll_from_the_former_version_migrates_under_people_who_write() -> None:
    """R41: the former code serves on until it is replaced, on tables that are the present ones."""
    proxy.program()
    words = ["-m", "tests.trust.rolling", "--people", "12", "--around", "5", "--former"]
    done = subprocess.run(
        [sys.executable, *words], cwd=live.ROOT, capture_output=True, text=True, check=False
    )
    if "--detach does not take a path" in done.stderr:
        pytest.skip("the history is cut off before the newest migration")
    assert done.stdout.startswith("{"), done.stdout + done.stderr
    found = json.loads(done.stdout)
    assert (found["refused"], found["lost"], found["doubled"], found["torn"]) == ([], 0, 0, 0)
    assert found["migrated"] > 0
    assert found["during"]["messages"] > 0


def roll(*words: str) -> tuple[int, str]:
    done = subprocess.run(
        [*ROLL, *words], cwd=live.ROOT, capture_output=True, text=True, check=False, timeout=60
    )
    return done.returncode, done.stdout


def test_a_roll_touches_nothing_unless_all_are_ready(tmp_path: Path) -> None:
    """The commands would leave a file; there is none."""
    ports = [str(servers.free_port()), str(servers.free_port())]
    trace = tmp_path / "touched"
    hands = [f"--{name}=touch {trace}" for name in ("drain", "restart", "reload", "then")]
    status, told = roll(*ports, *hands, f"--upstream={tmp_path / 'servers.conf'}")
    assert status == 1
    assert told == (
        f"roll: the process at port {ports[0]} is not ready: mend that first (no answer)\n"
    )
    assert [*tmp_path.iterdir()] == []


def test_a_roll_of_one_process_is_refused() -> None:
    """Named twice it is still one."""
    for words in (["8001"], ["8001", "8001"]):
        status, told = roll(*words)
        assert status == 2
        assert told.startswith("roll: name the ports of two web processes or more")


@pytest.mark.parametrize(("answered", "asked"), [(0, 1), (1, 3)])
async def test_only_a_kept_connection_that_was_closed_as_it_was_used_is_asked_again(
    answered: int, asked: int
) -> None:
    """The first connection answers so often, then ends each request; the others answer none."""
    seen: list[int] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                await reader.readuntil(b"\r\n\r\n")
                seen.append(1)
                if len(seen) > answered:
                    writer.transport.abort()
                    return
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server, httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}") as browser:
        for _ in range(answered):
            await rolling._ask(browser, "GET", "/")
        with pytest.raises(httpx.TransportError):
            await rolling._ask(browser, "GET", "/")
    assert len(seen) == asked
