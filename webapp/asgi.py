"""The ASGI application: pages, one websocket per seat, and the threads that one process needs.

uvicorn webapp.asgi:application --ws-max-size 65536 --ws-per-message-deflate false
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any, cast

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webapp.settings")

from django.core.asgi import get_asgi_application

pages = get_asgi_application()

from channels.routing import URLRouter
from django.conf import settings
from django.db import DatabaseError, InterfaceError
from django.urls import path

from webapp import realtime
from webapp.embedded import Embedded
from webapp.services.rules import uptime
from webapp.sockets import consumers
from webapp.sockets.batching import database
from webapp.sockets.consumers import ChatConsumer
from webapp.sockets.handshake import Receive, Scope, Send, is_own_origin

log = logging.getLogger(__name__)
DRAINED = 5.0  # seconds in which the sockets are closed; then the server closes what is left
sockets = URLRouter([path("c/<slug:slug>/socket", cast(Any, ChatConsumer.serve))])


async def application(scope: Scope, receive: Receive, send: Send) -> None:
    """Serve a page, a socket, or the server's own beginning and end."""
    if scope["type"] == "lifespan":
        await _live(receive, send)
    elif scope["type"] == "websocket":
        await _connect(scope, receive, send)
    else:
        await pages(scope, receive, send)


async def _connect(scope: Scope, receive: Receive, send: Send) -> None:
    if is_own_origin(scope):
        try:
            await sockets(scope, receive, send)
            return
        except ValueError as problem:  # no route: the only one that the router raises
            if "No route found" not in str(problem):
                raise
    await receive()
    await send({"type": "websocket.close", "code": 1008})


async def _live(receive: Receive, send: Send) -> None:
    await receive()
    realtime.serve_on(asyncio.get_running_loop())
    await _beat()  # before anybody is judged, and before anything is served
    beating = asyncio.create_task(_keep_beating())
    _drain_first(beating)
    embedded = Embedded() if settings.EMBEDDED else None
    if embedded:
        embedded.start()
    await send({"type": "lifespan.startup.complete"})
    await receive()
    beating.cancel()
    if embedded:
        await asyncio.to_thread(embedded.stop)
    await send({"type": "lifespan.shutdown.complete"})


async def _keep_beating() -> None:
    """Say that pages are served, from the loop that serves them: one that is stuck does not."""
    while True:
        await asyncio.sleep(uptime.BEAT)
        await _beat()


async def _beat() -> None:
    try:
        await database(lambda: uptime.beat(uptime.Part.WEB))
    except (DatabaseError, InterfaceError) as problem:  # without a database nothing is served
        log.warning("no sign of life: %s", type(problem).__name__)


def _drain_first(beating: asyncio.Task[None]) -> None:
    """Have SIGTERM close the sockets before the server ends, with the code that says "elsewhere".

    The server itself would close them as if something had failed. Only the main thread hears
    signals.
    """
    if threading.current_thread() is not threading.main_thread():
        return
    loop, end = asyncio.get_running_loop(), signal.getsignal(signal.SIGTERM)
    if not callable(end):
        return

    async def drain(number: int, frame: FrameType | None, end: Callable[..., Any]) -> None:
        beating.cancel()
        try:
            await asyncio.wait_for(consumers.drain(), DRAINED)
        finally:
            end(number, frame)

    def begin(number: int, frame: FrameType | None) -> None:
        loop.call_soon_threadsafe(lambda: loop.create_task(drain(number, frame, end)))

    signal.signal(signal.SIGTERM, begin)
