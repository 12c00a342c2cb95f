"""Draining: this process takes no new sockets, is not ready, and ends what it has in hand (R41)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

_began: list[bool] = []  # filled once; only a restart ends it
_in_hand: set[object] = set()  # requests and sockets that are open


def begin() -> None:
    _began[:] = [True]


def is_draining() -> bool:
    return bool(_began)


@contextmanager
def in_hand() -> Iterator[None]:
    """Count a request or a socket while it lasts."""
    mark = object()
    _in_hand.add(mark)
    try:
        yield
    finally:
        _in_hand.discard(mark)


def open_now() -> int:
    """Return how many requests and sockets are open, probes not among them."""
    return len(_in_hand)
