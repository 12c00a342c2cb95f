"""Turns of sweepers: one works at a time, another as soon as that one is gone (R26).

The lock only saves work. Ticks of two sweepers at once would be safe as well.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db import connection
from django.db.models import Q

from webapp.models import Heartbeat

SWEEPER = 7_261_002  # the advisory lock of who sweeps
TURN = "sweeper's turn"  # the row that is the lock where there are no advisory locks
LEASE = timedelta(seconds=10)


def take(*, owner: str, now: datetime) -> bool:
    """Tell whether it is this process's turn; held until it ends, or is silent for 10 seconds."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_try_advisory_lock(%s)", [SWEEPER])
            return bool(cursor.fetchone()[0])
    Heartbeat.objects.get_or_create(  # its unique name decides between two at once
        name=TURN, defaults={"kind": "turn", "detail": {"owner": owner}, "seen_at": now}
    )
    free = Q(detail__owner=owner) | Q(seen_at__lt=now - LEASE)
    rows = Heartbeat.objects.filter(free, name=TURN)
    return rows.update(detail={"owner": owner}, seen_at=now) == 1


def beat(*, owner: str, now: datetime, done: dict[str, int]) -> None:
    """Let the monitor see that this sweeper lives, and what it last did."""
    Heartbeat.objects.update_or_create(
        name=owner, defaults={"kind": "sweeper", "detail": done, "seen_at": now}
    )
