"""Limits of a socket: its origin, its cookie, and its frames per minute (S2)."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs, urlsplit

from django.conf import settings
from django.http.request import split_domain_port, validate_host

from webapp.services.conversation.messages import FRAMES, MESSAGES
from webapp.sockets.frames import Frame, Message

Scope = dict[str, Any]
Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[Mapping[str, Any]], Awaitable[None]]
MINUTE = 60.0


def is_own_origin(scope: Scope) -> bool:
    """Tell whether a page of this very server opens the socket: scheme, host and port."""
    headers = {key: value.decode("latin-1") for key, value in scope["headers"]}
    origin, host = headers.get(b"origin", ""), headers.get(b"host", "")
    name, _ = split_domain_port(host)
    if not name or not validate_host(name, settings.ALLOWED_HOSTS):
        return False
    secure = settings.SECURE_SSL_REDIRECT or scope.get("scheme") == "wss"
    try:
        found = urlsplit(origin)
    except ValueError:
        return False
    return (found.scheme, found.netloc.lower()) == ("https" if secure else "http", host.lower())


def cookie(scope: Scope, name: str) -> str:
    """Return a cookie of the request, or nothing."""
    for key, value in scope["headers"]:
        if key == b"cookie":
            try:
                cookies = SimpleCookie(value.decode("latin-1"))
            except CookieError:
                return ""
            return cookies[name].value if name in cookies else ""
    return ""


def header(scope: Scope, name: bytes) -> str:
    """Return a header of the request, or nothing."""
    return next((value.decode("latin-1") for key, value in scope["headers"] if key == name), "")


def parameter(scope: Scope, name: str) -> str:
    """Return a parameter of the address, or nothing."""
    query: bytes = scope.get("query_string", b"")
    return parse_qs(query.decode("latin-1")).get(name, [""])[0]


class Limits:
    """What one socket may send per minute."""

    def __init__(self) -> None:
        self._frames: deque[float] = deque(maxlen=FRAMES)
        self._messages: deque[float] = deque(maxlen=MESSAGES)

    def allow(self, frame: Frame) -> bool:
        """Tell whether a frame keeps to the limits, and count it if so."""
        counts = [self._frames, self._messages] if isinstance(frame, Message) else [self._frames]
        now = time.monotonic()
        if any(len(each) == each.maxlen and now - each[0] < MINUTE for each in counts):
            return False
        for each in counts:
            each.append(now)
        return True
