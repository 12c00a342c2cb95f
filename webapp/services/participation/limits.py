"""Limits per minute, of a person or an address, whatever door and process they use (R40, S2).

One process counts in its memory, several in Redis. While Redis does not answer each process counts
by itself, so nobody is shut out. A minute is the clock's, so around its end twice as much may pass.
Counts are no truth: losing them lets somebody send more.
"""

from __future__ import annotations

import logging
import threading
import time

from django.conf import settings
from django.core.cache import caches
from django.utils.crypto import salted_hmac

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
SILENT = 5.0  # seconds in which a cache that failed is not asked again

_failed_at: list[float] = []  # when the shared cache last did, by the monotonic clock


def allow(kind: str, who: int | str, at: float | None = None) -> bool:
    """Count one more of a kind; False where it is one too many. `at`: seconds since 1970."""
    moment = time.time() if at is None else at
    minute = int(moment // MINUTE)
    key = f"limit:{kind.replace(' ', '-')}:{who}:{minute}"
    return _count(key, minute) <= PER_MINUTE[kind]


def allow_address(address: str, at: float | None = None) -> bool:
    """Count a join from a network address, of which only a keyed hash is kept, for two minutes."""
    hashed = salted_hmac("parley.joins", address, algorithm="sha256").hexdigest()[:40]
    return allow(ADDRESS, hashed, at)


def seconds_left(at: float | None = None) -> int:
    """Return after how many seconds a new minute begins."""
    moment = time.time() if at is None else at
    return MINUTE - int(moment) % MINUTE


def _count(key: str, minute: int) -> int:
    if settings.CACHES["default"] == settings.OWN_CACHE:
        return own.count(key, minute)
    from redis.exceptions import RedisError  # 0.1 s, where there is a Redis

    if not _failed_at or time.monotonic() - _failed_at[-1] > SILENT:
        try:
            return _counted_together(key)
        except (RedisError, OSError) as problem:
            log.warning("limits are counted by each process: %s", type(problem).__name__)
            _failed_at[:] = [time.monotonic()]
    return own.count(key, minute)


def _counted_together(key: str) -> int:
    cache = caches["default"]
    cache.add(key, 0, timeout=2 * MINUTE)
    try:
        return int(cache.incr(key))
    except ValueError:  # it went between the two
        return 1


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
