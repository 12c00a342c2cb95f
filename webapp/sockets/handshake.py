"""Limits of a socket: its origin, its cookie, and its person's frames per minute (S2)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs, urlsplit

from django.conf import settings
from django.http.request import split_domain_port, validate_host

from webapp.services.participation import limits
from webapp.sockets.frames import Frame, Label, Message

Scope = dict[str, Any]
Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[Mapping[str, Any]], Awaitable[None]]


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


def allow(person: int, frame: Frame) -> bool:
    """Tell whether a frame keeps to a person's limits, over all doors, and count it (R40)."""
    (is_allowed,) = allow_all([(person, frame)])
    return is_allowed


def allow_all(frames: Sequence[tuple[int, Frame]]) -> list[bool]:
    """Tell the same of several people's frames, with one look at what was counted."""
    return limits.allow_all([(_kinds(frame), person) for person, frame in frames])


def _kinds(frame: Frame) -> tuple[str, ...]:
    if isinstance(frame, Message):
        return (limits.FRAMES, limits.MESSAGES)
    return (limits.FRAMES, limits.LABELS) if isinstance(frame, Label) else (limits.FRAMES,)
