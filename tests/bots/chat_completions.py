"""A real HTTP server that speaks chat completions, well or badly: `model` says how."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

PATIENCE = 20.0  # seconds that a stalled answer waits to be let go


@dataclass
class Fake:
    """What was asked of the server, and the means to let stalled answers go."""

    script: Sequence[Mapping[str, Any]] = ()  # answers of the model "scripted", by number
    answering: Callable[[str], str] = str  # what the model "answers" makes of the last message
    pieces: Sequence[str | Mapping[str, Any] | bytes] = ()  # of what the model "streams" sends
    waits: dict[int, threading.Event] = field(default_factory=dict)  # before the piece of a number
    dies_before: list[int] = field(default_factory=list)  # a piece; one number for each request
    asked: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    tries: Counter[str] = field(default_factory=Counter)
    too_long: str = "This model's maximum context length is 8192 tokens."  # what "holds 9" says
    most_at_once: int = 0
    under_way: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)
    let_go: threading.Event = field(default_factory=threading.Event)

    @cached_property
    def server(self) -> ThreadingHTTPServer:
        server = _Server(("127.0.0.1", 0), _Handler)
        server.daemon_threads = True
        server.fake = self  # type: ignore[attr-defined]
        return server

    @property
    def port(self) -> int:
        return int(self.server.server_address[1])

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"


@contextmanager
def running() -> Iterator[Fake]:
    """Serve on a free port of the loopback interface."""
    fake = Fake()
    thread = threading.Thread(target=fake.server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield fake
    finally:
        fake.let_go.set()
        fake.server.shutdown()
        fake.server.server_close()
        thread.join()


class _Server(ThreadingHTTPServer):
    request_queue_size = 128  # a whole batch connects at once


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    @property
    def fake(self) -> Fake:
        fake: Fake = self.server.fake  # type: ignore[attr-defined]
        return fake

    def do_POST(self) -> None:
        fake, body = self.fake, self.rfile.read(int(self.headers["Content-Length"]))
        question = json.loads(body)
        with fake.lock:
            fake.asked.append({"path": self.path, **question})
            fake.headers.append(dict(self.headers))
            fake.under_way += 1
            fake.most_at_once = max(fake.most_at_once, fake.under_way)
        try:
            self._behave(question)
        except OSError:
            pass  # whoever asked went away
        finally:
            with fake.lock:
                fake.under_way -= 1

    def _behave(self, question: Mapping[str, Any]) -> None:
        said = question["messages"][-1]["content"]
        behavior = str(question["model"])
        with self.fake.lock:
            self.fake.tries[said] += 1
            attempt = self.fake.tries[said]
        if behavior.startswith("busy") and attempt <= 2:
            self._send({"error": {"message": f"busy: {said}"}}, int(behavior.split()[1]))
        elif behavior == "fails on bad" and "bad" in said:
            self._send({"error": {"message": f"no: {said}"}}, 400)
        elif behavior == "gemma" and (complaint := _template_complaint(question["messages"])):
            self._send({"object": "error", "message": complaint, "code": 400}, 400)
        elif behavior.startswith("holds ") and len(question["messages"]) > int(behavior[6:]):
            self._send({"error": {"message": self.fake.too_long}}, 400)
        elif behavior == "scripted":
            self._send(self.fake.script[int(said)])
        elif behavior == "answers":
            self._send(_answer(self.fake.answering(said)))
        elif behavior in _ODD:
            _ODD[behavior](self)
        else:
            persona = question["messages"][0]["content"].splitlines()[1:]
            self._send(_answer(f"You said: {said} ({len(persona)})"))

    def _send(self, told: object, status: int = 200, **headers: str) -> None:
        self.raw(json.dumps(told).encode(), status, **headers)

    def raw(self, body: bytes, status: int = 200, **headers: str) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def stall(self) -> None:
        self.fake.let_go.wait(PATIENCE)

    def drip(self) -> None:
        """Send a byte now and then, so that no single read takes long."""
        self.send_response(200)
        self.send_header("Content-Length", "100000")
        self.end_headers()
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end and not self.fake.let_go.wait(0.02):
            self.wfile.write(b" ")
            self.wfile.flush()

    def stream(self) -> None:
        """Send the pieces as chunks: texts and deltas as events, bytes as they are."""
        fake = self.fake
        with fake.lock:
            last = fake.dies_before.pop(0) if fake.dies_before else None
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream; charset=utf-8")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for number, piece in enumerate([*fake.pieces, b""]):
            if number in fake.waits:
                fake.waits[number].wait(PATIENCE)
            if number == last:
                self.close_connection = True
                return
            sent = piece if isinstance(piece, bytes) else event(delta(piece))
            self.wfile.write(b"%x\r\n%s\r\n" % (len(sent), sent))
            self.wfile.flush()

    def huge(self) -> None:
        self._send(_answer("word " * 1_000_000))

    def long(self) -> None:
        self._send(_answer("word " * 20_000))

    def redirect(self) -> None:
        self._send({}, 302, Location=self.fake.url + "/elsewhere")

    def vanish(self) -> None:
        self.close_connection = True

    def log_message(self, *_: object) -> None:
        """Say nothing."""


_ODD: dict[str, Callable[[_Handler], None]] = {
    "stalls": _Handler.stall,
    "drips": _Handler.drip,
    "streams": _Handler.stream,
    "huge": _Handler.huge,
    "long": _Handler.long,
    "redirects": _Handler.redirect,
    "vanishes": _Handler.vanish,
    "not json": lambda handler: handler.raw(b"<html>Hello</html>"),
    "a list": lambda handler: handler.raw(b"[1]"),
    "no choices": lambda handler: handler.raw(b'{"choices": []}'),
    "compressed": lambda handler: handler.raw(b"x", Content_Encoding="gzip"),
    "dots": lambda handler: handler._send(_answer("... ...")),
    "constant": lambda handler: handler._send(_answer("I like tea.")),
    "refuses": lambda handler: handler._send({"error": {"message": "no field seed"}}, 400),
    "is cut": lambda handler: handler._send(_cut("This is as far as I")),
    "empty": lambda handler: handler._send(_answer("")),
    "rude": lambda handler: handler._send(_answer("I will kill you, you stupid bitch")),
}


def event(told: object) -> bytes:
    """Return an event of a stream."""
    return b"data: " + json.dumps(told, ensure_ascii=False).encode("utf-8", "replace") + b"\n\n"


def delta(piece: str | Mapping[str, Any], finish: str | None = None) -> dict[str, Any]:
    """Return a chunk of a chat completion."""
    content = {"content": piece} if isinstance(piece, str) else piece
    choice = {"index": 0, "delta": content, "finish_reason": finish}
    return {"object": "chat.completion.chunk", "model": "fake-1", "choices": [choice]}


USAGE = {"prompt_tokens": 9, "completion_tokens": 5, "total_tokens": 14}
END = (
    event(delta({}, "stop")),
    event({"model": "fake-1", "choices": [], "usage": USAGE}),
    b"data: [DONE]\n\n",
)


def _template_complaint(messages: Sequence[Mapping[str, str]]) -> str:
    """Return what a chat template of Gemma's kind raises."""
    if messages[0]["role"] == "system":
        return "System role not supported"
    if any(each["role"] != ("user", "assistant")[n % 2] for n, each in enumerate(messages)):
        return "Conversation roles must alternate user/assistant/user/assistant/..."
    return ""


def _answer(text: str) -> dict[str, Any]:
    return {
        "model": "fake-1",
        "choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 9, "completion_tokens": 5, "total_tokens": 14, "secret": "x"},
    }


def _cut(text: str) -> dict[str, Any]:
    answer = _answer(text)
    answer["choices"][0]["finish_reason"] = "length"
    return answer
