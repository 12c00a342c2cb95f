"""Heartbeats of reply workers: the bots they host, and how those fare there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta

from django.db.models.functions import Now

from webapp.models import Heartbeat

ALIVE = timedelta(seconds=30)  # since the last sign of life; they give one every 5 s
EVERY = "*"  # a worker that hosts every bot


@dataclass(frozen=True)
class State:
    """The report of a reply worker about its bots, by name.

    warming: being loaded; memory: megabytes on the machine and on its GPU; batch: the most jobs
    taken at once, where that is fewer than usual; losses: processes lost since it started.
    """

    warming: Sequence[str] = ()
    memory: Mapping[str, Sequence[float]] = field(default_factory=dict)
    batch: Mapping[str, int] = field(default_factory=dict)
    losses: Mapping[str, int] = field(default_factory=dict)


def beat(*, name: str, bots: Sequence[str], state: State) -> None:
    """Give a sign of life."""
    Heartbeat.objects.update_or_create(
        name=name,
        defaults={
            "kind": "replies",
            "bots": list(bots),
            "detail": asdict(state),
            "seen_at": Now(),
        },
    )


def state_of(worker: Heartbeat) -> State:
    """Return the last report of a worker; older versions sent none."""
    return State(**worker.detail)


def alive(now: datetime) -> list[Heartbeat]:
    """Return the reply workers that gave a sign of life lately."""
    return list(Heartbeat.objects.filter(kind="replies", seen_at__gte=now - ALIVE))


def hosting(workers: Sequence[Heartbeat], bot: str) -> int:
    """Count the workers that host a bot, and have loaded it."""
    hosts = [worker for worker in workers if EVERY in worker.bots or bot in worker.bots]
    return sum(bot not in state_of(worker).warming for worker in hosts)
