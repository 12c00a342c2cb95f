"""A chat service of our own: a real HTTP server with the shape of Telegram's Bot API.

It keeps what bots send, refuses calls on demand, and makes the updates that it would send.
"""

from __future__ import annotations

import itertools
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Json = dict[str, Any]


@dataclass
class FakeService:
    """What the service knows; `failures` are the answers to the next calls, instead of success."""

    token: str
    calls: list[tuple[str, Json]] = field(default_factory=list)
    failures: list[tuple[int, Json]] = field(default_factory=list)
    address: str = ""
    _numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1000))

    def take(self, path: str, body: Json) -> tuple[int, Json]:
        """Answer one call."""
        token, _, method = path.removeprefix("/bot").partition("/")
        if token != self.token:
            return 401, {"ok": False, "error_code": 401, "description": "Unauthorized"}
        if self.failures:
            status, more = self.failures.pop(0)
            return status, {"ok": False, "error_code": status, **more}
        self.calls.append((method, body))
        return 200, {"ok": True, "result": {"message_id": len(self.calls)}}

    def texts(self, chat: int) -> list[str]:
        """Return the messages that a chat shows."""
        return [body["text"] for _, body in self.messages(chat)]

    def messages(self, chat: int) -> list[tuple[str, Json]]:
        sent = (each for each in self.calls if each[0] == "sendMessage")
        return [each for each in sent if each[1]["chat_id"] == chat]

    def buttons(self, chat: int) -> dict[str, str]:
        """Return the buttons below the last message that has some: words to data."""
        keyboards = [
            body["reply_markup"] for _, body in self.messages(chat) if "reply_markup" in body
        ]
        rows = keyboards[-1]["inline_keyboard"] if keyboards else []
        return {each["text"]: each["callback_data"] for row in rows for each in row}

    def writes(self, person: int, text: str) -> Json:
        """Return the update of a message in a private chat."""
        return {
            "update_id": next(self._numbers),
            "message": {
                "message_id": 1,
                "date": 1_700_000_000,
                "chat": {"id": person, "type": "private"},
                "from": {"id": person, "is_bot": False, "first_name": "V", "language_code": "en"},
                "text": text,
            },
        }

    def presses(self, person: int, data: str) -> Json:
        """Return the update of a pressed button."""
        who = {"id": person, "is_bot": False, "first_name": "V", "language_code": "en"}
        number = next(self._numbers)
        return {
            "update_id": number,
            "callback_query": {"id": f"q{number}", "from": who, "data": data, "chat_instance": "1"},
        }


@contextmanager
def serving(token: str) -> Iterator[FakeService]:
    """Serve a chat service at a port of this machine."""
    fake = FakeService(token)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            status, answer = fake.take(self.path, body)
            content = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    fake.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=lambda: server.serve_forever(0.01), daemon=True)
    thread.start()
    try:
        yield fake
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
