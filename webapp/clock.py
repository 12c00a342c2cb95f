"""The time of the database: what deadlines and presence are written and compared by (R27, R36).

No host's own clock is ever asked where the database is a server. Between two statements, a second
apart at most, its time is carried on by the monotonic clock, which nobody sets: a message costs no
statement more. Of SQLite the database's clock is the host's.
"""

from __future__ import annotations

import time
from datetime import datetime, timedelta

from django.db import connection
from django.utils import timezone

CARRIED = 1.0  # seconds that one answer of the database is carried on for
BOOT = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)  # goes on while a machine sleeps

_answers: list[tuple[datetime, float]] = []  # the latest one: the database's time, and ours then


def now() -> datetime:
    """Return the time of the database, at most a second after it was asked."""
    if connection.vendor != "postgresql":
        return timezone.now()
    for at, tick in _answers[-1:]:
        passed = time.clock_gettime(BOOT) - tick
        if 0 <= passed < CARRIED:
            return at + timedelta(seconds=passed)
    return read()


def read() -> datetime:
    """Return the time of the database by a statement of its own: what people are judged by."""
    if connection.vendor != "postgresql":
        return timezone.now()
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        at: datetime = cursor.fetchone()[0]
    _answers[:] = [(at, time.clock_gettime(BOOT))]
    return at


def ahead() -> timedelta:
    """Return by how much the clock of this host is ahead of the database's; below 0, behind it."""
    at = read()
    return timezone.now() - at
