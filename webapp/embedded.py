"""What makes one process enough: an in-memory channel layer that other threads can wake."""

from __future__ import annotations

import asyncio
from typing import Any

from channels.layers import InMemoryChannelLayer


class LoopChannelLayer(InMemoryChannelLayer):
    """Hand sends to the server's own event loop: its sockets are not woken from another thread."""

    loop: asyncio.AbstractEventLoop | None = None

    async def group_send(self, group: str, message: dict[str, Any]) -> None:
        loop = LoopChannelLayer.loop
        if loop is None or loop is asyncio.get_running_loop():
            await super().group_send(group, message)
        else:
            asyncio.run_coroutine_threadsafe(super().group_send(group, message), loop)
