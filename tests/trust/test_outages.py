"""An outage is charged to nobody, and no host's clock ends anybody (R35, R36, G18, G26, G27)."""

from __future__ import annotations

import asyncio
import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests import servers
from tests.live import Client, serving

ROOT = Path(__file__).parents[2]
pytestmark = [pytest.mark.trust, pytest.mark.timeout(300)]


def run(*words: str, program: str = "outages", longest: int = 280) -> list[dict[str, Any]]:
    answer = subprocess.run(
        [sys.executable, "-m", f"tests.trust.{program}", *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=longest,
        check=False,
    )
    assert answer.stdout.startswith("["), answer.stdout + answer.stderr
    found: list[dict[str, Any]] = json.loads(answer.stdout)
    return found


def harm(found: list[dict[str, Any]]) -> list[int]:
    return [sum(each["harm"].values()) for each in found]


def assert_told(found: list[dict[str, Any]]) -> None:
    """Every outage is stored once, and said on the pages of four steps and in three chats."""
    assert [(each["outages"], each["told"], each["told in chats"]) for each in found] == [
        (1, 4, 3)
    ] * len(found)


@pytest.mark.parametrize(
    ("backend", "lengths"),
    [
        ("sqlite", ["98", "1860"]),
        ("postgresql", ["1860"]),
        pytest.param("sqlite", ["10", "86400"], marks=pytest.mark.slow),
        pytest.param("postgresql", ["10", "98", "86400"], marks=pytest.mark.slow),
    ],
)
def test_an_outage_parts_ends_and_accuses_nobody(backend: str, lengths: list[str]) -> None:
    skip_without_postgresql(backend)
    found = run("--backend", backend, "--seconds", *lengths)
    assert harm(found) == [0] * len(lengths), found
    assert_told(found)


def test_a_first_sweep_that_judges_by_wall_time_is_caught() -> None:
    (found,) = run("--seconds", "1860", "--bug", "judged_by_wall_time")
    harmed = [found["harm"][name] for name in ("parted", "unpaid", "accused", "moved")]
    assert min(harmed) > 0, found


@pytest.mark.parametrize(
    "lengths",
    [["98"], pytest.param(["10", "1860", "86400"], marks=pytest.mark.slow)],
)
@pytest.mark.timeout(1200)
def test_a_part_that_is_away_alone_harms_nobody(lengths: list[str]) -> None:
    """G26: each part of an installation, the others at work; all owed replies come."""
    skip_without_postgresql("postgresql")
    found = run("--seconds", *lengths, program="parts_away", longest=1150)
    assert len(found) == 5 * len(lengths)
    assert harm(found) == [0] * len(found), found
    told = {each["away"]: each["outages"] for each in found}
    assert told == {"web": 1, "database": 1, "replies": 0, "sweeper": 0, "broker": 0}


@pytest.mark.slow
@pytest.mark.parametrize("part", ["web", "database"])
def test_a_part_that_is_away_is_charged_to_people_by_wall_time(part: str) -> None:
    skip_without_postgresql("postgresql")
    words = ("--away", part, "--seconds", "1860", "--bug", "judged_by_wall_time")
    (found,) = run(*words, program="parts_away")
    assert min(found["harm"][name] for name in ("parted", "unpaid", "accused", "moved")) > 0


@pytest.mark.parametrize("backend", ["sqlite", "postgresql"])
def test_a_hosts_clock_ends_nobody(backend: str) -> None:
    """On a server the database's clock is asked; SQLite's is the host's, and a jump an outage."""
    if shutil.which("faketime") is None:
        pytest.skip("no faketime: install it")
    skip_without_postgresql(backend)
    clocks = [-3600, -1860, 1860, 3600] if backend == "postgresql" else [-3600, 3600]
    found = run("--backend", backend, "--clocks", *map(str, clocks))
    assert harm(found) == [0] * len(clocks), found
    for wrong, each in zip(clocks, found, strict=True):
        off = each["seconds off"]
        assert abs(off["host"] - wrong) < 60, "the host's clock is off"
        if backend == "postgresql":
            assert 0 <= off["read"] <= off["carried"] < 60, "the database's is not"


async def test_a_server_that_ends_sends_its_sockets_elsewhere(tmp_path: Path) -> None:
    """R41: what was said is answered, then the socket is closed with 1001."""
    with serving(tmp_path, {"people": 1}) as (server, study):
        client = await (await Client(server, study).connect()).hello()
        item = await client.send_message("Is this stored?")
        assert server.process is not None
        server.process.send_signal(signal.SIGTERM)
        await client.until(lambda frame: frame["type"] == "ack" and frame["id"] == item)
        await asyncio.wait_for(client.socket.wait_closed(), 20)
        assert client.socket.close_code == 1001
        assert server.process.wait(20) in (0, -signal.SIGTERM)


def skip_without_postgresql(backend: str) -> None:
    if backend == "postgresql" and not (shutil.which("initdb") or servers.POSTGRES_PATHS):
        pytest.skip("no PostgreSQL: install it")
