"""Clocks of the hosts beside the database's, as their processes last compared them (R42).

Deadlines and presence go by the database (R36). One-time codes, invitations and the age of what a
panel sends are judged by the host that answers: where its clock is off, they are refused, or hold
for too long.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from socket import gethostname

from django.db import connection

from webapp import clock
from webapp.models import Heartbeat
from webapp.services.rules import uptime

KIND = "clock"
EVERY = 60.0  # seconds between two comparisons of a process
KNOWN = timedelta(days=1)  # an older comparison may be of a host that is gone
NEAR = 5.0  # seconds that nobody notices: a one-time code holds for 30

_compared: list[float] = []  # when this process last did, by the monotonic clock


@dataclass(frozen=True)
class HostClock:
    """How many seconds the clock of a host was ahead of the database's; below 0, behind it."""

    host: str
    ahead: float
    at: datetime

    @property
    def is_off(self) -> bool:
        return abs(self.ahead) > NEAR


def beat(part: str) -> None:
    """Give a sign of life of a part of the platform, and compare the clock now and then."""
    uptime.beat(part)
    compare()


def compare() -> None:
    """Compare the clock of this host once a minute; the clock of SQLite is the host's own."""
    tick = time.clock_gettime(clock.BOOT)
    if connection.vendor != "postgresql" or any(0 <= tick - at < EVERY for at in _compared):
        return
    _compared[:] = [tick]
    note(gethostname(), clock.ahead(), now=clock.now())


def note(host: str, ahead: timedelta, *, now: datetime) -> None:
    """Keep by how much a host's clock is ahead of the database's."""
    known = {"kind": KIND, "detail": {"ahead": round(ahead.total_seconds(), 3)}, "seen_at": now}
    Heartbeat.objects.update_or_create(name=f"{KIND} {host}"[:80], defaults=known)


def known(now: datetime) -> Iterator[HostClock]:
    """Yield the clock of each host that was compared lately."""
    rows = Heartbeat.objects.filter(kind=KIND, seen_at__gte=now - KNOWN).order_by("name")
    for row in rows:
        yield HostClock(row.name.removeprefix(f"{KIND} "), row.detail["ahead"], row.seen_at)
