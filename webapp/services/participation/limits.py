"""Limits per minute, of a person or an address, whatever door and process they use (R40, S2).

One process counts in its memory, several in Redis. While Redis does not answer each process counts
by itself, so nobody is shut out. A minute is the clock's, so around its end twice as much may pass.
Counts are no truth: losing them lets somebody send more.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

from django.conf import settings
from django.utils.crypto import salted_hmac

if TYPE_CHECKING:
    from redis import Redis

log = logging.getLogger(__name__)
MINUTE = 60
FRAMES, MESSAGES, LABELS = "frames", "messages", "labels"
JOINS, ADDRESS = "joins", "joins of an address"
REPORTS = "reports of browsers"  # of all of them together
PER_MINUTE = {
    FRAMES: 120,  # of one participation, requests for what is new among them
    MESSAGES: 30,
    LABELS: 90,
    JOINS: 10,  # further browsers and repeated consents of one participation
    ADDRESS: 300,  # generous: a campus has one address
    REPORTS: 60,
}
PATIENCE = 0.3  # seconds that Redis may take to answer
SILENT = 5.0  # seconds in which a Redis that failed is not asked again
Wanted = tuple[Sequence[str], int | str]  # kinds, and who is counted

_failed_at: list[float] = []  # when Redis last did, by the monotonic clock


def allow(kind: str, who: int | str, at: float | None = None) -> bool:
    """Count one more of a kind; False where it is one too many. `at`: seconds since 1970."""
    (is_allowed,) = allow_all([((kind,), who)], at)
    return is_allowed


def allow_all(wanted: Sequence[Wanted], at: float | None = None) -> list[bool]:
    """Count each once more of all its kinds, together; False where it is one too many of any."""
    minute = int((time.time() if at is None else at) // MINUTE)
    keys = [
        f"limit:{kind.replace(' ', '-')}:{who}:{minute}" for kinds, who in wanted for kind in kinds
    ]
    counts = iter(_count(keys, minute))
    return [
        not sum(next(counts) > PER_MINUTE[kind] for kind in kinds)  # each count is taken
        for kinds, _ in wanted
    ]


def allow_address(address: str, at: float | None = None) -> bool:
    """Count a join from a network address, of which only a keyed hash is kept, for two minutes."""
    hashed = salted_hmac("parley.joins", address, algorithm="sha256").hexdigest()[:40]
    return allow(ADDRESS, hashed, at)


def seconds_left(at: float | None = None) -> int:
    """Return after how many seconds a new minute begins."""
    moment = time.time() if at is None else at
    return MINUTE - int(moment) % MINUTE


def _count(keys: Sequence[str], minute: int) -> list[int]:
    if not settings.REDIS_URL:
        return [own.count(key, minute) for key in keys]
    from redis.exceptions import RedisError  # 0.1 s, where there is a Redis

    if not _failed_at or time.monotonic() - _failed_at[-1] > SILENT:
        try:
            return _counted_together(keys)
        except (RedisError, OSError) as problem:
            log.warning("limits are counted by each process: %s", type(problem).__name__)
            _failed_at[:] = [time.monotonic()]
    return [own.count(key, minute) for key in keys]


def _counted_together(keys: Sequence[str]) -> list[int]:
    """Count in Redis, with one round trip."""
    with _shared(settings.REDIS_URL).pipeline(transaction=False) as commands:
        for key in keys:
            commands.incr(key)
            commands.expire(key, 2 * MINUTE)
        return [int(count) for count in commands.execute()[::2]]


@cache
def _shared(url: str) -> Redis:
    """Return this process's connections to a Redis."""
    from redis import Redis

    return Redis.from_url(url, socket_timeout=PATIENCE, socket_connect_timeout=PATIENCE)


class OwnCounts:
    """Counts of this process, of this minute and the one before."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: dict[int, dict[str, int]] = {}

    def count(self, key: str, minute: int) -> int:
        """Return how often a key was counted in a minute, this time included."""
        with self._lock:
            if minute not in self._counts:
                before = self._counts.get(minute - 1, {})
                self._counts = {minute - 1: before, minute: {}}
            counts = self._counts[minute]
            counts[key] = counts.get(key, 0) + 1
            return counts[key]

    def clear(self) -> None:
        self._counts.clear()


own = OwnCounts()
