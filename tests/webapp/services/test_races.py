"""Races of real processes on both databases: never over, never twice (R16, R17, R19, G4, G6).

Zero failures in these runs bound a rate, they do
not prove that there are none.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from tests.servers import postgresql

ROOT = Path(__file__).parents[3]
# Of those who get no place: told so at once or at the start, or on the list for one not begun.
LEFT_OUT = ("full", "FULL", "READY")
pytestmark = [pytest.mark.trust, pytest.mark.timeout(300)]


class Ring:
    """A fresh, migrated database, and a process that sends racing processes to it."""

    def __init__(self, url: str, folder: Path) -> None:
        self.environment = os.environ | {
            "DATABASE_URL": url,
            "DATA_DIR": str(folder),
            "DJANGO_SETTINGS_MODULE": "webapp.settings",
            "DEBUG": "1",
            "SECRET_KEY": "for tests only",
            "REDIS_URL": "",
        }
        self.problems = (folder / "problems").open("w+")
        self.starter = subprocess.Popen(
            [sys.executable, "-m", "tests.webapp.services.racing"],
            cwd=ROOT,
            env=self.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.problems,
            text=True,
            start_new_session=True,
        )

    def ask(self, *command: object) -> dict[str, Any]:
        """Have one command done and return what it answers."""
        assert self.starter.stdin is not None
        assert self.starter.stdout is not None
        self.starter.stdin.write(json.dumps(command) + "\n")
        self.starter.stdin.flush()
        told = self.starter.stdout.readline()
        if not told:
            self.problems.seek(0)
            raise AssertionError(self.problems.read())
        answer: dict[str, Any] = json.loads(told)
        return answer

    def race(self, name: str, row: int, *, processes: int, count: int) -> Counter[str]:
        """Let processes begin at once, and return the sum of what they count."""
        return Counter(self.ask("race", name, row, processes, count))

    def end(self) -> None:
        """End it, and whoever still races."""
        with suppress(ProcessLookupError):
            os.killpg(self.starter.pid, signal.SIGKILL)
        self.starter.communicate()
        self.problems.close()


@contextmanager
def ring_on(url: str, folder: Path) -> Iterator[Ring]:
    ring = Ring(url, folder)
    try:
        yield ring
    finally:
        ring.end()


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def ring(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Ring]:
    """One database of each kind for all races; each race has a campaign of its own."""
    folder = tmp_path_factory.mktemp("race")
    if request.param == "sqlite":
        with ring_on(f"sqlite:///{folder / 'race.sqlite3'}", folder) as ring:
            yield ring
        return
    with postgresql() as url, ring_on(url, folder) as ring:
        yield ring


def test_racing_joins_never_overshoot_and_fill_exactly(ring: Ring) -> None:
    campaign = ring.ask("setup", "bots", 30)["campaign"]
    came = ring.race("join", campaign, processes=6, count=16)
    found = ring.ask("report", campaign)
    assert came["CHATTING"] == 60
    assert sum(came.values()) == 96
    assert set(came) <= {"CHATTING", *LEFT_OUT}
    assert found["cells"] == [[30, 30, 0], [30, 30, 0]]
    assert found["holding"] == 60
    assert found["same_personas"] == found["seated_twice"] == 0
    assert found["personas_taken"] == found["personas_had"] > 100, "counted as often as taken"
    assert found["broken_audit"] == 0


def test_racing_joins_never_exceed_the_budget_and_use_it_up(ring: Ring) -> None:
    """R37: six places of 0.90 fit, though forty are wanted."""
    campaign = ring.ask("setup", "budget", 20)["campaign"]
    came = ring.race("join", campaign, processes=4, count=6)
    found = ring.ask("report", campaign)
    assert came["CHATTING"] == found["holding"] == 6
    assert sum(came.values()) == 24
    assert set(came) <= {"CHATTING", *LEFT_OUT}
    assert found["money"] == [540, 540, 0]
    assert sum(reserved for _, reserved, _ in found["cells"]) == 6, "no slot without its pay"


def test_two_hundred_people_become_a_hundred_full_conversations(ring: Ring) -> None:
    campaign = ring.ask("setup", "people", 200)["campaign"]
    came = ring.race("join", campaign, processes=5, count=40)
    ring.ask("pair", campaign)
    found = ring.ask("report", campaign)
    assert sum(came.values()) == found["people"] == 200
    assert found["states"] == {"MATCHED": 200}
    assert found["pairs"] == found["full_pairs"] == 100
    assert found["seated_twice"] == found["same_personas"] == 0
    assert found["cells"] == [[200, 200, 0]]


def test_a_hundred_submissions_at_once_give_one_code(ring: Ring) -> None:
    made = ring.ask("setup", "rater", 5)
    codes = ring.race("submit", made["person"], processes=4, count=25)
    found = ring.ask("report", made["campaign"])
    assert list(codes.values()) == [100]
    assert "none" not in codes
    assert (found["codes"], found["ratings"], found["broken_audit"]) == (1, 4, 0)
    assert sorted(found["cells"]) == [[5, 0, 0], [5, 0, 1]]


def test_who_comes_at_once_to_write_gets_each_text_once_and_sends_it_once(ring: Ring) -> None:
    made = ring.ask("setup", "writers", 10)
    came = ring.race("join", made["campaign"], processes=2, count=8)
    assert came["WRITING"] == 9  # and the first
    assert set(came) <= {"WRITING", *LEFT_OUT}
    codes = ring.race("submit", made["person"], processes=2, count=15)
    found = ring.ask("report", made["campaign"])
    assert list(codes.values()) == [30]
    assert (found["codes"], found["contributions"], found["broken_audit"]) == (1, 1, 0)


def test_third_parties_who_come_at_once_give_each_message_five_votes_and_no_more(
    ring: Ring,
) -> None:
    campaign = ring.ask("setup", "third parties", 4)["campaign"]
    came = ring.race("judge", campaign, processes=4, count=4)
    found = ring.ask("report", campaign)
    assert sum(came.values()) == 16
    assert set(came) <= {"COMPLETED", "FULL", "full"}
    assert found["items"] == [[5, 0, 5]] * 4
    assert found["ratings"] == 2 * 5 * 4
    assert found["codes"] == came["COMPLETED"] >= 5
    assert found["broken_audit"] == 0


def test_a_pair_counts_as_two_exactly_where_its_rating_is_there(ring: Ring) -> None:
    """R16: of each pair one rates, and stops in other tabs at the same time."""
    campaign = ring.ask("setup", "pairs", 12)["campaign"]
    assert ring.ask("report", campaign)["cells"] == [[12, 12, 0]]
    ring.race("end", campaign, processes=4, count=1)
    found = ring.ask("report", campaign)
    rated = found["ratings"] // 4
    assert found["cells"] == [[12, 0, 2 * rated]]
    assert (found["holding"], found["codes"], found["states"]) == (0, 12, {"ENDED": 12})
    assert found["broken_audit"] == 0


def test_two_who_both_rate_count_exactly_where_both_ratings_are_there(ring: Ring) -> None:
    """R16: both rate at the same time, and stop in other tabs; no single slot is left."""
    campaign = ring.ask("setup", "pairs who both rate", 12)["campaign"]
    assert ring.ask("report", campaign)["cells"] == [[12, 12, 0]]
    ring.race("end", campaign, processes=4, count=1)
    found = ring.ask("report", campaign)
    assert found["cells"] == [[12, 0, 2 * found["whole_pairs"]]]
    assert (found["holding"], found["codes"], found["states"]) == (0, 12, {"ENDED": 12})
    assert found["broken_audit"] == 0


def test_one_person_who_comes_many_times_at_once_is_one_participation(ring: Ring) -> None:
    campaign = ring.ask("setup", "bots", 30)["campaign"]
    people = ring.race("same", campaign, processes=5, count=6)
    assert len(people) == 1
    assert ring.ask("report", campaign)["people"] == 1
