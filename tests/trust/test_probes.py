"""Probes of real servers: what is stopped is named, and the process itself stays alive (R41)."""

from __future__ import annotations

import asyncio
import contextlib
import json
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import psycopg
import pytest
import websockets

from tests import live, servers
from tests.live import Client, Server, serving

pytestmark = [pytest.mark.trust, pytest.mark.timeout(120)]
READY: tuple[int, list[str]] = (200, [])


def probe(port: int, path: str) -> tuple[int, dict[str, Any]]:
    """Return the status and the JSON of a probe."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=30) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as refused:
        return refused.code, json.load(refused)


def lacking(port: int) -> tuple[int, list[str]]:
    assert probe(port, "/healthz") == (200, {"alive": True})
    status, found = probe(port, "/readyz")
    return status, found["lacking"]


def wait_until(port: int, wanted: tuple[int, list[str]]) -> None:
    end = time.monotonic() + live.PATIENCE
    while (found := lacking(port)) != wanted:
        assert time.monotonic() < end, found
        time.sleep(0.05)


@contextlib.contextmanager
def uvicorn(env: Mapping[str, str]) -> Iterator[int]:
    """Serve by uvicorn, which starts on any database, and yield the port."""
    port = servers.free_port()
    words = ["webapp.asgi:application", "--port", str(port), "--no-access-log"]
    command = [sys.executable, "-m", "uvicorn", *words, "--log-level", "critical"]
    process = subprocess.Popen(command, cwd=live.ROOT, env=env, stderr=subprocess.DEVNULL)
    try:
        live.wait_for_port(port, process)
        yield port
    finally:
        process.terminate()
        process.wait(live.PATIENCE)


def compared_clock(database: str) -> tuple[str, float]:
    """Wait until a process compared its host's clock; return which host, and the seconds (R42)."""
    rows = "SELECT name, (detail->>'ahead')::float FROM webapp_heartbeat WHERE kind = 'clock'"
    end = time.monotonic() + live.PATIENCE
    with psycopg.connect(database, autocommit=True) as connection:
        while (found := connection.execute(rows).fetchone()) is None and time.monotonic() < end:
            time.sleep(0.2)
    assert found is not None
    return found


def migrate(env: Mapping[str, str]) -> None:
    subprocess.run([sys.executable, "-m", "tests.databases"], cwd=live.ROOT, env=env, check=True)


def test_a_database_and_a_broker_that_stop_are_named(tmp_path: Path) -> None:
    with contextlib.ExitStack() as database, contextlib.ExitStack() as broker:
        changes = {
            "DATABASE_URL": database.enter_context(servers.postgresql()),
            "REDIS_URL": broker.enter_context(servers.redis_server()),
        }
        with uvicorn(live.environment(tmp_path, **changes)) as port:
            assert lacking(port) == (503, ["migrations"])
            migrate(live.environment(tmp_path, **changes))
            assert lacking(port) == READY
            host, ahead = compared_clock(changes["DATABASE_URL"])
            assert (host, abs(ahead) < 1) == (f"clock {socket.gethostname()}", True)
            broker.close()
            assert lacking(port) == (503, ["broker"])
            again = int(changes["REDIS_URL"].rpartition(":")[2].partition("/")[0])
            broker.enter_context(servers.redis_server(again))
            assert lacking(port) == READY
            database.close()
            assert lacking(port) == (503, ["database"])


async def test_a_draining_server_serves_pages_and_sends_sockets_elsewhere(tmp_path: Path) -> None:
    """R41: what was sent is answered; then 1001, and 503 for new sockets, which a proxy heeds."""
    with serving(tmp_path, {"people": 1}) as (server, study):
        assert lacking(server.port) == READY
        client = await (await Client(server, study).connect()).hello()
        item = await client.send_message("Is this stored?")
        drain(server)
        await client.until(lambda frame: frame["type"] == "ack" and frame["id"] == item)
        await asyncio.wait_for(client.socket.wait_closed(), 20)
        assert client.socket.close_code == 1001
        await asyncio.to_thread(wait_until, server.port, (503, ["draining"]))
        assert probe(server.port, "/readyz")[1]["open"] == 0
        with pytest.raises(websockets.InvalidStatus) as refused:
            await Client(server, study).connect()
        assert refused.value.response.status_code == 503
        page = await asyncio.to_thread(now, server, study.slug, client.cookie)
        assert page == 200


def drain(server: Server) -> None:
    assert server.process is not None
    server.process.send_signal(signal.SIGUSR1)


def now(server: Server, slug: str, cookie: str) -> int:
    address = f"http://{server.host}/c/{slug}/now"
    request = urllib.request.Request(address, headers={"Cookie": cookie})
    with urllib.request.urlopen(request, timeout=live.PATIENCE) as answer:  # noqa: S310 (loopback)
        return int(answer.status)
