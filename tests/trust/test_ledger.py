"""People take part while processes are killed under them: nothing lost, nothing twice (G1, G3).

The small runs are for every check; the full ones, with 150 people, for script/test --full. Each is
a process of its own, because it sets up its own database. `python -m tests.trust.ledger` prints the
table.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests import servers
from tests.trust import figures

ROOT = Path(__file__).parents[2]
SEED = 1
SLOWEST_WRITE = 30.0  # seconds after a kill (G3)

pytestmark = [pytest.mark.trust]


def run(backend: str, people: int, longest: float, kill_every: float = 5) -> dict[str, Any]:
    command = ["--people", str(people), "--backend", backend, "--seed", str(SEED), "--json"]
    command += ["--kill-every", str(kill_every)]
    answer = subprocess.run(
        [sys.executable, "-m", "tests.trust.ledger", *command],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=longest,
        check=False,
    )
    assert answer.stdout.startswith("{"), answer.stdout + answer.stderr
    result: dict[str, Any] = json.loads(answer.stdout)
    return result


def assert_clean(result: dict[str, Any], people: int) -> None:
    assert {name: found for name, found in result["faults"].items() if found} == {}
    assert result["kills"] >= 3
    assert result["ended"]["COMPLETED"] >= people / 3
    assert result["speed"]["next write after a kill, max s"] <= SLOWEST_WRITE


def test_a_delay_begins_when_somebody_has_a_write_to_make() -> None:
    """G3: a server that is away is charged from the kill, a pause of the people to nobody."""
    assert figures.gap_after(10.0, [(9.0, 50.0), (45.0, 46.0)]) == 36.0  # it was waiting
    assert figures.gap_after(10.0, [(45.0, 46.0)]) == 1.0  # nobody had anything to write
    assert figures.gap_after(10.0, [(12.0, 43.0)]) == 31.0  # sent while the server was away
    assert figures.gap_after(10.0, [(8.0, 9.0)]) == 0.0  # everything was over


@pytest.mark.timeout(400)
def test_one_process_group_on_sqlite() -> None:
    assert_clean(run("sqlite", 40, 380, kill_every=3), 40)  # quick machines need quick kills


@pytest.mark.timeout(500)
def test_two_web_and_two_reply_processes_on_real_servers() -> None:
    skip_without_servers()
    assert_clean(run("servers", 30, 480, kill_every=3), 30)


@pytest.mark.slow
@pytest.mark.timeout(1000)
def test_150_people_on_sqlite() -> None:
    assert_clean(run("sqlite", 150, 980), 150)


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_150_people_on_real_servers() -> None:
    skip_without_servers()
    assert_clean(run("servers", 150, 1180), 150)


def skip_without_servers() -> None:
    if not (shutil.which("initdb") or servers.POSTGRES_PATHS):
        pytest.skip("no PostgreSQL: install it")
    with servers.redis_server():
        pass
