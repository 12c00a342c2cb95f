"""Text that grows, told at a pace: what grows faster than that is told together.

A bot in a child process and one on the event loop of the calls tell it alike.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

Growing = Callable[[str], None]
PAUSE = 0.1  # seconds at least between two of one text


class Paced:
    """Tells what a text has grown to; it is called on an event loop, and waits for nobody."""

    def __init__(self, tell: Growing) -> None:
        self._tell = tell
        self._text = ""
        self._sent_at = float("-inf")
        self._timer: asyncio.TimerHandle | None = None

    def grow(self, text: str) -> None:
        """Note what the text has grown to; "" where it begins anew."""
        self._text = text
        loop = asyncio.get_running_loop()
        wait = self._sent_at + PAUSE - loop.time()
        if self._timer is None and wait > 0:
            self._timer = loop.call_later(wait, self._now)
        elif self._timer is None:
            self._now()

    def end(self) -> None:
        """Tell no more."""
        if self._timer is not None:
            self._timer.cancel()

    def _now(self) -> None:
        self._timer, self._sent_at = None, asyncio.get_running_loop().time()
        self._tell(self._text)
