"""Which reply workers are alive, and which bots they host."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from webapp.models import Heartbeat

ALIVE = timedelta(seconds=30)  # since the last sign of life; they give one every 5 s
EVERY = "*"  # a worker that hosts every bot


def alive(now: datetime) -> list[Heartbeat]:
    """Return the reply workers that gave a sign of life lately."""
    return list(Heartbeat.objects.filter(kind="replies", seen_at__gte=now - ALIVE))


def hosting(workers: Sequence[Heartbeat], bot: str) -> int:
    """Count the workers that host a bot."""
    return sum(EVERY in worker.bots or bot in worker.bots for worker in workers)
