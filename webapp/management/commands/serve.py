"""Serve pages, sockets and (without REDIS_URL) reply workers and the sweeper, in one process."""

from __future__ import annotations

import asyncio
from argparse import ArgumentParser
from typing import cast

import uvicorn
from django.conf import settings
from django.core.management.base import CommandError
from django.db import connection
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from webapp.management.quick import QuickCommand
from webapp.services.ops import readiness

MOST_PORT = 65_535


class Impatient(HttpToolsProtocol):
    """Closes a connection whose request does not get beyond its headers in time (R40).

    The server itself waits for ever for the first request, and for the rest of a half-sent one.
    """

    _waiting: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(cast(asyncio.Transport, transport))
        self._wait()

    def data_received(self, data: bytes) -> None:
        if self._waiting is None and getattr(self.cycle, "response_complete", False):
            self._wait()  # the next request of a connection that was kept
        super().data_received(data)

    def on_headers_complete(self) -> None:
        self._stop_waiting()
        super().on_headers_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def _wait(self) -> None:
        self._waiting = self.loop.call_later(settings.HEADER_SECONDS, self.transport.close)

    def _stop_waiting(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None


class Command(QuickCommand):
    """Django's own runserver knows no sockets."""

    help = __doc__ or ""

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default="127.0.0.1")
        parser.add_argument("--port", type=int, default=8000)

    def handle(self, *args: object, host: str, port: int, **options: object) -> None:
        if not 1 <= port <= MOST_PORT:
            raise CommandError(f"--port: is {port}, must be 1 to {MOST_PORT}")
        if readiness.is_behind():
            raise CommandError(
                "the database is not up to date; run: .venv/bin/python manage.py migrate"
            )
        connection.close()
        self.stdout.write(f"Parley is at http://{host}:{port}/ (Ctrl-C stops it)")
        self.stdout.flush()
        uvicorn.run(
            "webapp.asgi:application",
            host=host,
            port=port,
            http=Impatient,
            lifespan="on",
            log_level="warning",
            access_log=False,
            ws_max_size=settings.MAX_FRAME_BYTES,
            ws_per_message_deflate=False,
            timeout_graceful_shutdown=3,
        )
