"""Serve pages, sockets and (without REDIS_URL) reply workers and the sweeper, in one process."""

from __future__ import annotations

from argparse import ArgumentParser

import uvicorn
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import connection
from django.db.migrations.executor import MigrationExecutor


class Command(BaseCommand):
    """Django's own runserver knows no sockets."""

    help = __doc__ or ""
    requires_system_checks = ()  # they load every page's libraries: seconds; `check` does them

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default="127.0.0.1")
        parser.add_argument("--port", type=int, default=8000)

    def handle(self, *args: object, host: str, port: int, **options: object) -> None:
        executor = MigrationExecutor(connection)
        if executor.migration_plan(executor.loader.graph.leaf_nodes()):
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
            lifespan="on",
            log_level="warning",
            access_log=False,
            ws_max_size=settings.MAX_FRAME_BYTES,
            ws_per_message_deflate=False,
            timeout_graceful_shutdown=3,
        )
