"""The fault matrix: nothing is lost, doubled, torn or unpaid, whatever fails.

Broker, database and lines (G2), disk (G17), clocks (G18, G27, R36) and outages (G26).

`python -m tests.trust.matrix` prints the table of all faults on both databases.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from tests import live
from tests.trust.matrix import COUNTS, OUTAGES, Row
from tests.trust.strikes import STRIKES
from tests.trust.test_outages import skip_without_postgresql

pytestmark = [pytest.mark.trust, pytest.mark.timeout(400)]


def run(*words: str, longest: float = 390) -> tuple[int, list[dict[str, Any]]]:
    """Return the exit status and the rows of the table."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.trust.matrix", "--json", *words],
        cwd=live.ROOT,
        capture_output=True,
        text=True,
        timeout=longest,
        check=False,
    )
    assert done.stdout.startswith("["), done.stdout + done.stderr
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return done.returncode, found


def test_a_row_is_clean_where_all_counts_are_0_and_something_was_written() -> None:
    assert Row("kill-web", "sqlite", acknowledged=3).clean
    assert not Row("kill-web", "sqlite").clean, "nobody wrote"
    for name in COUNTS:
        counts = dict.fromkeys(COUNTS, 0) | {name: 1}
        assert not Row("kill-web", "sqlite", acknowledged=3, counts=counts).clean


def test_people_write_on_over_cut_lines() -> None:
    """A few people, one quick fault: the others are for script/test --full."""
    words = ["--database", "sqlite", "--people", "4", "--faults", "tcp-cut"]
    status, (row,) = run(*words, "--bug", "hurried")  # a tenth of the time that people take
    assert row["why"] == []
    assert row["acknowledged"] >= 8
    assert status == 0


@pytest.mark.slow
@pytest.mark.timeout(3000)
@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_every_fault(database: str) -> None:
    skip_without_postgresql(database)
    status, rows = run("--database", database, "--people", "8", longest=2900)
    assert [row["fault"] for row in rows] == [*STRIKES, *OUTAGES]
    assert {row["fault"]: row["why"] for row in rows if row["why"]} == {}
    assert status == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fault", "bug", "count"),
    [
        ("outage-1860", "judged_by_wall_time", "accused"),
        ("tcp-cut", "rating_off_by_one", "lost"),
    ],
)
def test_a_broken_product_fails(fault: str, bug: str, count: str) -> None:
    words = ["--database", "sqlite", "--people", "4", "--faults", fault, "--bug", bug]
    status, (row,) = run(*words)
    assert row["counts"][count] > 0, row
    assert status == 1
