"""Request ids, structured logs, honest 503s, languages, and headers of personal pages."""

from __future__ import annotations

import contextvars
import json
import logging
import re
import secrets
from collections.abc import Callable

from django.conf import settings
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.urls import resolve
from django.utils import translation

from webapp import languages

Handler = Callable[[HttpRequest], HttpResponse]
request_id: contextvars.ContextVar[str] = contextvars.ContextVar("request_id", default="-")
log = logging.getLogger(__name__)
PROBES = frozenset({"/healthz", "/readyz"})  # asked every few seconds, by an address and a port
TOKEN = re.compile(
    r"(/(?:withdraw|private)/)[^\s\"'<>?]+"
)  # of a refused request, whose path Django logs


class JsonFormatter(logging.Formatter):
    """One line of JSON a record: newline-safe, with the request's id, never message text (S16)."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, object] = {
            "at": self.formatTime(record),
            "level": record.levelname,
            "logger": record.name,
            "request": request_id.get(),
            "text": TOKEN.sub(r"\1...", record.getMessage()),
        }
        if (account := _account(record)) is not None:
            line["account"] = account
        if record.exc_info:
            line["trace"] = self.formatException(record.exc_info)
        return json.dumps(line)


def _account(record: logging.LogRecord) -> int | None:
    """Return the number of the account whose request a record is of, where that is known already.

    It is not asked for: what failed may be the database.
    """
    user = getattr(getattr(record, "request", None), "_cached_user", None)
    return user.pk if user is not None else None


class Probes:
    """Answer /healthz and /readyz before anything asks for a host name, HTTPS or a session."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.path_info not in PROBES:
            return self.get_response(request)
        response: HttpResponse = resolve(request.path_info).func(request)
        response.headers["Cache-Control"] = "no-store"
        return response


class HttpsOnly:
    """Refuse programs that come by plain HTTP; browsers are sent on to HTTPS (ASVS V4.1.2).

    A program that is sent on tells its secret in clear each time, and nobody notices.
    """

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        is_browser = "text/html" in request.headers.get("Accept", "")
        may_be_sent_on = is_browser and request.method in ("GET", "HEAD")
        if request.is_secure() or not settings.SECURE_SSL_REDIRECT or may_be_sent_on:
            return self.get_response(request)
        words = "This server answers over HTTPS only. Renew what secret came with this request.\n"
        return HttpResponse(words, status=403, content_type="text/plain; charset=utf-8")


class RequestId:
    """Give each request an id, for its log lines and its error page."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        token = request_id.set(secrets.token_hex(6))
        try:
            is_echo = request.method == "TRACE"  # which no page needs
            response = HttpResponse(status=405) if is_echo else self.get_response(request)
            response.headers["X-Request-Id"] = request_id.get()
            return response
        finally:
            request_id.reset(token)


class Busy:
    """Answer 503 with Retry-After when the database cannot be had (R23)."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, problem: Exception) -> HttpResponse | None:
        if not isinstance(problem, OperationalError | InterfaceError):
            return None
        log.error("database trouble", exc_info=problem)
        if "application/json" in request.headers.get("Accept", ""):
            response: HttpResponse = JsonResponse({"error": "busy"}, status=503)
        else:
            response = render(request, "busy.html", {"request_id": request_id.get()}, status=503)
        response.headers["Retry-After"] = "5"
        return response


class PageLanguage:
    """Show participants the language that their browser asks for, and staff English.

    A campaign's own pages then take one of the campaign's languages (`views.participant`).
    """

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        is_participant = request.path.startswith("/c/")
        every = list(languages.NAMES)
        code = languages.of_request(request, every) if is_participant else languages.SOURCE
        with translation.override(code):
            return self.get_response(request)


class PrivatePages:
    """Personal pages are not stored by browsers or proxies (S6).

    The referrer policy stays "same-origin": no other site is told where somebody comes from.
    "no-referrer" would make browsers send "Origin: null" with forms, which the check against
    cross-site requests refuses.
    """

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if not request.path.startswith("/static/"):
            response.headers.setdefault("Cache-Control", "no-store")
        return response
