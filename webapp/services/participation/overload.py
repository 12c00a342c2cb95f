"""Overload: how late this process is, and whether new people have to wait for those at work (R23).

A process that serves pages measures each second how late its event loop and its threads for the
database are. Where even the quickest of the latest looks was slow, it is overloaded: a single
hiccup, as of a collection of garbage, is none.
"""

from __future__ import annotations

from collections import deque
from datetime import datetime, timedelta
from socket import gethostname

from django.conf import settings

from webapp.models import Heartbeat

EVERY = 1.0  # seconds between two looks
LOOKS = 5
LATELY = timedelta(seconds=30)  # in which staff are told of it
KIND = "overload"

_late: deque[float] = deque(maxlen=LOOKS)


def note(seconds: float) -> None:
    """Note how late the latest look was."""
    _late.append(seconds)


def lateness() -> float:
    """Return the seconds by which the quickest of the latest looks was late; 0 before there are."""
    return min(_late) if len(_late) == LOOKS else 0.0


def is_overloaded() -> bool:
    """Tell whether this process takes nobody new; never where `OVERLOAD_SECONDS` is 0."""
    limit: float = settings.OVERLOAD_SECONDS
    return 0 < limit <= lateness()


def tell(now: datetime) -> None:
    """Let staff see it, whichever process serves their page."""
    about = {"kind": KIND, "detail": {"late": round(lateness(), 3)}, "seen_at": now}
    Heartbeat.objects.update_or_create(name=f"{KIND} {gethostname()}"[:80], defaults=about)


def hosts(now: datetime) -> list[str]:
    """Return the hosts that were overloaded lately."""
    rows = Heartbeat.objects.filter(kind=KIND, seen_at__gte=now - LATELY).order_by("name")
    return [name.removeprefix(f"{KIND} ") for name in rows.values_list("name", flat=True)]
