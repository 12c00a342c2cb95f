"""Clocks of hosts that differ from the database's are found by `manage.py verify` (R42)."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection

from tests.factories import NOW
from tests.webapp.services.people import after
from webapp.models import Heartbeat
from webapp.services.ops import host_clocks, verifying

pytestmark = pytest.mark.django_db
DAY = 86_400


def note(host: str, ahead: float) -> None:
    host_clocks.note(host, timedelta(seconds=ahead), now=NOW)


def found(seconds: float = 0) -> list[str]:
    return [one.words for one in verifying.findings(after(seconds)) if one.check == "clocks"]


@pytest.mark.parametrize("way", [1, -1])
def test_a_clock_is_off_from_more_than_five_seconds_on_whichever_way(way: int) -> None:
    for ahead in (0.0, 4.999, 5.0):
        note("web-1", way * ahead)
        assert found() == []
    note("web-1", way * 5.001)
    (words,) = found()
    assert "host web-1 was 5 s" in words


def test_each_host_is_named_with_its_latest_comparison_for_a_day() -> None:
    note("web-1", 7.0)
    note("web-1", 3600.4)
    note("worker-1", -3600.0)
    note("web-2", 0.1)
    assert [words.split(" at ")[0] for words in found(DAY)] == [
        "the clock of host web-1 was 3600 s ahead of the database's",
        "the clock of host worker-1 was 3600 s behind the database's",
    ]
    assert found(DAY + 1) == []


@pytest.mark.skipif(
    connection.vendor != "sqlite", reason="of PostgreSQL: tests/trust/test_probes.py"
)
def test_the_clock_of_sqlite_is_not_compared_with_itself() -> None:
    host_clocks.compare()
    assert not Heartbeat.objects.exists()
