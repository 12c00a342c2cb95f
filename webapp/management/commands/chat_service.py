"""`manage.py chat_service`: tell people of the chat service what is new, and send it.

One process does so by itself; with REDIS_URL run this beside the sweeper, any number of times.
"""

from __future__ import annotations

import signal
import threading
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError
from django.db import connection
from django.urls import reverse

from webapp import chat_service
from webapp.management.quick import QuickCommand
from webapp.services.chat_service import outgoing


class Command(QuickCommand):
    help = "Tell people of the chat service what is new; --register says where updates go."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--register", metavar="https://HOST", help="have updates sent to this server, and end"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if not settings.CHAT_SERVICE_TOKEN:
            raise CommandError("CHAT_SERVICE_TOKEN is not set: there is no chat service")
        if options["register"]:
            self._register(options["register"])
            return
        ended = threading.Event()
        for name in (signal.SIGTERM, signal.SIGINT):
            signal.signal(name, lambda *_: ended.set())
        chat_service.serve(ended)
        connection.close()

    def _register(self, base: str) -> None:
        content = {
            "url": base.rstrip("/") + reverse("chat-service-updates"),
            "secret_token": settings.CHAT_SERVICE_SECRET,
            "allowed_updates": ["message", "callback_query"],
        }
        done = outgoing.post("setWebhook", content)
        if done.error:
            raise CommandError(f"the chat service refused: {done.error}")
        self.stdout.write(f"Updates go to {content['url']}")
