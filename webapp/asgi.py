"""The ASGI application: pages, one websocket per seat, and the threads that one process needs.

uvicorn webapp.asgi:application --ws-max-size 65536 --ws-per-message-deflate false
"""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import signal
import threading
import warnings
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from importlib import import_module
from types import FrameType
from typing import Any, cast

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webapp.settings")

from django.core.asgi import get_asgi_application

pages = get_asgi_application()

from channels.routing import URLRouter
from django.conf import settings
from django.db import DatabaseError, InterfaceError
from django.urls import get_resolver, path
from django.utils import translation

from webapp import clock, exporters, realtime
from webapp.calculators import Calculators
from webapp.embedded import Embedded
from webapp.middleware import PROBES
from webapp.services.accounts import sessions
from webapp.services.ops import host_clocks
from webapp.services.participation import overload
from webapp.services.rules import uptime
from webapp.sockets import consumers, draining
from webapp.sockets.batching import database
from webapp.sockets.consumers import ChatConsumer
from webapp.sockets.handshake import Receive, Scope, Send, cookie, header, is_own_origin

log = logging.getLogger(__name__)
DRAINED = 5.0  # seconds in which the sockets are closed; then the server closes what is left
THRESHOLDS = 5_000, 10, 20  # new objects before a search; of such searches, before larger ones
DENIAL = "websocket.http.response"  # an extension of ASGI: refuse a socket with a status
# Of static files, which are small; downloads are handed out part by part (`views/file_parts.py`).
warnings.filterwarnings("ignore", "StreamingHttpResponse must consume synchronous iterators")
# All pages are imported before anything is served: else the first visitor would wait for a second.
import_module(settings.ROOT_URLCONF)


def know_addresses() -> None:
    """Have Django list all addresses by name, once for all languages: they are the same in each.

    It does so with the first page of each language, in every thread that serves one at that moment:
    after a restart 40 threads that wait for each other take 60 times as long as one.
    """
    resolver: Any = get_resolver()
    with translation.override(settings.LANGUAGE_CODE):
        resolver.reverse_dict  # noqa: B018 (lists them)
    for kept in (resolver._reverse_dict, resolver._namespace_dict, resolver._app_dict):
        for code, _name in settings.LANGUAGES:
            kept.setdefault(code, kept[settings.LANGUAGE_CODE])


know_addresses()
sockets = URLRouter([path("c/<slug:slug>/socket", cast(Any, ChatConsumer.serve))])


async def application(scope: Scope, receive: Receive, send: Send) -> None:
    """Serve a page, a socket, or the server's own beginning and end."""
    if scope["type"] == "lifespan":
        await _live(receive, send)
    elif scope["type"] == "websocket":
        with draining.in_hand():
            await _connect(scope, receive, send)
    elif scope["path"] in PROBES:
        await _serve_page(scope, receive, send)
    else:
        with draining.in_hand():
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
    if draining.is_draining() and DENIAL in scope.get("extensions", {}):
        await _refuse_socket(receive, send)
        return
    if is_own_origin(scope):
        try:
            await sockets(scope, receive, send)
            return
        except ValueError as problem:  # no route: the only one that the router raises
            if "No route found" not in str(problem):
                raise
    await receive()
    await send({"type": "websocket.close", "code": 1008})


async def _refuse_socket(receive: Receive, send: Send) -> None:
    """Refuse a socket with 503, so that a proxy asks another process and the browser sees none."""
    await receive()
    headers = [(b"content-length", b"0"), (b"retry-after", b"1")]
    await send({"type": f"{DENIAL}.start", "status": 503, "headers": headers})
    await send({"type": f"{DENIAL}.body", "body": b""})


async def _live(receive: Receive, send: Send) -> None:
    await receive()
    realtime.serve_on(asyncio.get_running_loop())
    await _beat()  # before anybody is judged, and before anything is served
    beating = asyncio.create_task(_keep_beating())
    watching = asyncio.create_task(_watch_load())
    _drain_first(beating)
    embedded = Embedded() if settings.EMBEDDED else None
    calculators = Calculators()
    calculators.start()
    exporters.start()
    if embedded:
        embedded.start()
    _collect_rarely()
    await send({"type": "lifespan.startup.complete"})
    await receive()
    beating.cancel()
    watching.cancel()
    exporters.stop()
    await asyncio.to_thread(calculators.stop)
    if embedded:
        await asyncio.to_thread(embedded.stop)
    await send({"type": "lifespan.shutdown.complete"})


def _collect_rarely() -> None:
    """Leave what stays for good out of searches for garbage, and search the whole less often.

    Such a search stops all threads: at 2,000 sockets for 0.1 s or more, every 15 s.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(*THRESHOLDS)


async def _keep_beating() -> None:
    """Say that pages are served, from the loop that serves them: one that is stuck does not."""
    while True:
        await asyncio.sleep(uptime.BEAT)
        await _beat()


async def _watch_load() -> None:
    """Measure how late this loop and the threads for the database are (R23)."""
    loop = asyncio.get_running_loop()
    while True:
        began = loop.time()
        await asyncio.sleep(overload.EVERY)
        await database(lambda: None)
        overload.note(loop.time() - began - overload.EVERY)
        if overload.is_overloaded():
            with suppress(DatabaseError, InterfaceError):
                await database(lambda: overload.tell(clock.now()))


async def _beat() -> None:
    try:
        await database(lambda: host_clocks.beat(uptime.Part.WEB))
    except (DatabaseError, InterfaceError) as problem:  # without a database nothing is served
        log.warning("no sign of life: %s", type(problem).__name__)


def _drain_first(beating: asyncio.Task[None]) -> None:
    """Have SIGTERM close the sockets before the server ends, with the code that says "elsewhere".

    The server itself would close them as if something had failed. SIGUSR1 does the same and lets
    the server go on, not ready, until whoever restarts it finds it idle (`script/roll`). Only the
    main thread hears signals.
    """
    if threading.current_thread() is not threading.main_thread():
        return
    loop, end = asyncio.get_running_loop(), signal.getsignal(signal.SIGTERM)
    if not callable(end):
        return

    draining_tasks: list[asyncio.Task[None]] = []  # a loop alone would lose them

    async def drain(number: int, frame: FrameType | None, end: Callable[..., Any]) -> None:
        beating.cancel()
        try:
            await asyncio.wait_for(consumers.drain(), DRAINED)
        finally:
            end(number, frame)

    def begin(number: int, frame: FrameType | None) -> None:
        loop.call_soon_threadsafe(lambda: start(drain(number, frame, end)))

    def start(work: Coroutine[Any, Any, None]) -> None:
        draining_tasks.append(loop.create_task(work))

    signal.signal(signal.SIGTERM, begin)
    signal.signal(
        signal.SIGUSR1, lambda *_: loop.call_soon_threadsafe(lambda: start(consumers.drain()))
    )
