"""The ASGI application: pages, one websocket per seat, and the threads that one process needs.

uvicorn webapp.asgi:application --ws-max-size 65536 --ws-per-message-deflate false
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import threading
from collections.abc import Callable, Mapping
from types import FrameType
from typing import Any, cast

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webapp.settings")

from django.core.asgi import get_asgi_application

pages = get_asgi_application()

from channels.routing import URLRouter
from django.conf import settings
from django.db import DatabaseError, InterfaceError
from django.urls import path

from webapp import exporters, realtime
from webapp.calculators import Calculators
from webapp.embedded import Embedded
from webapp.services.accounts import sessions
from webapp.services.rules import uptime
from webapp.sockets import consumers
from webapp.sockets.batching import database
from webapp.sockets.consumers import ChatConsumer
from webapp.sockets.handshake import Receive, Scope, Send, cookie, header, is_own_origin

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
        await _serve_page(scope, receive, send)


async def _serve_page(scope: Scope, receive: Receive, send: Send) -> None:
    """Serve a page; a body beyond its limit is refused before, or while, it is read (R40).

    Django would spool it into a temporary file before any view or check.
    """
    declared = header(scope, b"content-length")
    length = int(declared) if declared.isdecimal() else 0
    is_open_ended = not declared and bool(header(scope, b"transfer-encoding"))
    most = settings.MAX_BODY_BYTES
    if (length > most or is_open_ended) and await _is_signed_in(scope):
        most = settings.MAX_UPLOAD_BYTES
    read, is_answered = 0, False

    async def counted() -> dict[str, Any]:
        nonlocal read
        message = await receive()
        read += len(message.get("body", b""))
        return message if read <= most else {"type": "http.disconnect"}  # Django closes its file

    async def noted(message: Mapping[str, Any]) -> None:
        nonlocal is_answered
        is_answered = True
        await send(message)

    if length <= most:
        await pages(scope, counted, noted)
    if max(read, length) > most and not is_answered:
        await _refuse_body(send, most)


async def _is_signed_in(scope: Scope) -> bool:
    key = cookie(scope, settings.SESSION_COOKIE_NAME)
    return bool(key) and await database(lambda: sessions.is_signed_in(key))


async def _refuse_body(send: Send, most: int) -> None:
    text = f"This is more than the {most // 1024} KiB that one request may send.\n".encode()
    headers = [
        (b"content-type", b"text/plain; charset=utf-8"),
        (b"content-length", str(len(text)).encode()),
        (b"cache-control", b"no-store"),
        (b"connection", b"close"),
    ]
    await send({"type": "http.response.start", "status": 413, "headers": headers})
    await send({"type": "http.response.body", "body": text})


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
    calculators = Calculators()
    calculators.start()
    exporters.start()
    if embedded:
        embedded.start()
    await send({"type": "lifespan.startup.complete"})
    await receive()
    beating.cancel()
    exporters.stop()
    await asyncio.to_thread(calculators.stop)
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
