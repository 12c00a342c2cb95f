"""The ASGI application: pages, one websocket per seat, and the threads that one process needs.

uvicorn webapp.asgi:application --ws-max-size 65536 --ws-per-message-deflate false
"""

from __future__ import annotations

import asyncio
import os
from typing import Any, cast

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webapp.settings")

from django.core.asgi import get_asgi_application

pages = get_asgi_application()

from channels.routing import URLRouter
from django.conf import settings
from django.urls import path

from webapp import realtime
from webapp.calculators import Calculators
from webapp.embedded import Embedded
from webapp.sockets.consumers import ChatConsumer
from webapp.sockets.handshake import Receive, Scope, Send, is_own_origin

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
    embedded = Embedded() if settings.EMBEDDED else None
    calculators = Calculators()
    calculators.start()
    if embedded:
        embedded.start()
    await send({"type": "lifespan.startup.complete"})
    await receive()
    await asyncio.to_thread(calculators.stop)
    if embedded:
        await asyncio.to_thread(embedded.stop)
    await send({"type": "lifespan.shutdown.complete"})
