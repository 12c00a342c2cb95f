"""The chat of Channels' tutorial, which stores each message: what Parley is compared with.

    python -m tests.benchmarks.stock_channels uvicorn|daphne PORT

Its SQLite is in DATA_DIR and as durable as Parley's: WAL, synchronous FULL.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any


def serve(server: str, port: int) -> None:
    """Serve it under uvicorn or daphne."""
    import django
    from django.conf import settings
    from django.core.asgi import get_asgi_application

    folder = Path(os.environ["DATA_DIR"])
    pragmas = "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;"
    settings.configure(
        SECRET_KEY="stock",
        INSTALLED_APPS=["channels"],
        DATABASES={
            "default": {
                "ENGINE": "django.db.backends.sqlite3",
                "NAME": folder / "stock.sqlite3",
                "OPTIONS": {"init_command": pragmas, "timeout": 20},
            }
        },
        CHANNEL_LAYERS={"default": {"BACKEND": "channels.layers.InMemoryChannelLayer"}},
    )
    django.setup()
    from channels.routing import ProtocolTypeRouter, URLRouter
    from django.db import connection
    from django.urls import path

    model, consumer = _tutorial()
    with connection.schema_editor() as editor:
        editor.create_model(model)
    routes = URLRouter([path("<str:room>", consumer.as_asgi())])
    app = ProtocolTypeRouter({"http": get_asgi_application(), "websocket": routes})
    if server == "daphne":
        from daphne.server import Server

        Server(application=app, endpoints=[f"tcp:port={port}:interface=127.0.0.1"]).run()
        return
    import uvicorn

    uvicorn.run(app, port=port, log_level="warning", ws_per_message_deflate=False, lifespan="off")


def _tutorial() -> tuple[Any, Any]:
    """Return the model and the consumer; Django's settings have to be there before."""
    from channels.db import database_sync_to_async
    from channels.generic.websocket import AsyncWebsocketConsumer
    from django.db import models

    class Stored(models.Model):  # noqa: DJ008 (nobody reads it)
        room = models.CharField(max_length=40)
        text = models.TextField()

        class Meta:
            app_label = "stock"

    class Chat(AsyncWebsocketConsumer):
        async def connect(self) -> None:
            self.room = self.scope["url_route"]["kwargs"]["room"]
            await self.channel_layer.group_add(self.room, self.channel_name)
            await self.accept()

        async def disconnect(self, code: int) -> None:
            await self.channel_layer.group_discard(self.room, self.channel_name)

        async def receive(self, text_data: str) -> None:
            frame = json.loads(text_data)
            store = database_sync_to_async(Stored._default_manager.create)
            await store(room=self.room, text=frame["text"])
            event = {"type": "chat.message", "text": frame["text"]}
            await self.channel_layer.group_send(self.room, event)
            await self.send(text_data=json.dumps({"type": "ack", "id": frame["id"]}))

        async def chat_message(self, event: dict[str, str]) -> None:
            await self.send(text_data=json.dumps({"type": "event", "text": event["text"]}))

    return Stored, Chat


if __name__ == "__main__":
    serve(sys.argv[1], int(sys.argv[2]))
