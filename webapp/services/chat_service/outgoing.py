"""Calls of the chat service's API: a queue in the database, sent in order per chat, and retried.

A call may arrive twice where the answer to it was lost: the API has no way to tell a repeat.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db.models import F, Min

from webapp.models import ServiceCall

if TYPE_CHECKING:
    import httpx

log = logging.getLogger(__name__)
LEASE = timedelta(seconds=30)  # that one attempt may take, before another sender may try
SECONDS = 10.0  # of one request
ATTEMPTS = 12  # with the pauses between them an hour and more
LONGEST_PAUSE = 600.0
LONGEST_TEXT = 4_096  # UTF-16 units of one message there
LONGEST_DATA = 64  # bytes of a button's data
AT_ONCE = 50
FINAL = (400, 403)  # the call is wrong, or the person has blocked the bot; a token can be put right

Button = tuple[str, str]  # its words, and the data that come back


@dataclass(frozen=True)
class Sent:
    """What came of an attempt: no error, one to be tried again after a pause, or a final one."""

    error: str = ""
    is_final: bool = False
    after: float | None = None  # seconds that the service asks to wait


Send = Callable[[str, Mapping[str, Any]], Sent]


def queue_message(recipient: str, text: str, now: datetime, buttons: Sequence[Button] = ()) -> None:
    """Queue a message, in several where it is long; buttons stand below the last."""
    is_plain = len(text.encode("utf-16-le")) == 2 * len(text)
    length = LONGEST_TEXT if is_plain else LONGEST_TEXT // 2  # an emoji counts as two there
    starts = range(0, max(1, len(text)), length)
    for start in starts:
        content: dict[str, Any] = {
            "chat_id": int(recipient),
            "text": text[start : start + length],
        }
        if buttons and start == starts[-1]:
            rows = [[{"text": words, "callback_data": data}] for words, data in buttons]
            content["reply_markup"] = {"inline_keyboard": rows}
        _queue(recipient, "sendMessage", content, now)


def acknowledge(recipient: str, press: str, text: str, now: datetime) -> None:
    """Queue the answer to a pressed button, shown for a moment."""
    content = {"callback_query_id": press, "text": text[:200]}
    _queue(recipient, "answerCallbackQuery", content, now)


def _queue(recipient: str, method: str, content: Mapping[str, Any], now: datetime) -> None:
    ServiceCall.objects.create(recipient=recipient, method=method, content=content, due_at=now)


def send_due(send: Send, *, now: datetime) -> int:
    """Send the first call of each chat whose time has come; return how many were tried."""
    waiting = ServiceCall.objects.filter(failed_at=None)
    first = waiting.order_by().values("recipient").annotate(first=Min("pk")).values("first")
    due = waiting.filter(pk__in=first, due_at__lte=now)[:AT_ONCE]
    return sum(_try(call, send, now) for call in due)


def _try(call: ServiceCall, send: Send, now: datetime) -> bool:
    """Make one attempt, if this sender is the one that claims it."""
    mine = ServiceCall.objects.filter(pk=call.pk, attempt=call.attempt, due_at__lte=now)
    if not mine.update(attempt=F("attempt") + 1, due_at=now + LEASE):
        return False
    attempt = call.attempt + 1
    held = ServiceCall.objects.filter(pk=call.pk, attempt=attempt)
    done = send(call.method, call.content)
    if not done.error:
        held.delete()
    elif done.is_final or attempt >= ATTEMPTS:
        log.warning("chat service: %s given up: %s", call.method, done.error)
        held.update(failed_at=now, recipient="", content={}, error=done.error[:200])
    else:
        pause = min(LONGEST_PAUSE, 2.0**attempt) if done.after is None else done.after
        held.update(due_at=now + timedelta(seconds=pause), error=done.error[:200])
    return True


def post(method: str, content: Mapping[str, Any]) -> Sent:
    """Make one call over HTTP. No error names the address, which holds the token."""
    import httpx  # 0.15 s of each start, for what most servers never use

    address = f"{settings.CHAT_SERVICE_URL}/bot{settings.CHAT_SERVICE_TOKEN}/{method}"
    try:
        answer = _client().post(address, json=content)
    except (httpx.HTTPError, httpx.InvalidURL) as problem:
        return Sent(type(problem).__name__)
    if answer.status_code == HTTPStatus.OK:
        return Sent()
    is_final = answer.status_code in FINAL
    return Sent(f"status {answer.status_code}", is_final=is_final, after=_pause_of(answer))


@lru_cache(maxsize=1)
def _client() -> httpx.Client:
    """Return the one client, which keeps its connections."""
    import httpx

    return httpx.Client(timeout=SECONDS, trust_env=False, follow_redirects=False)


def _pause_of(answer: httpx.Response) -> float | None:
    """Return the seconds to wait that an answer names."""
    try:
        found = answer.json()["parameters"]["retry_after"]
    except (ValueError, LookupError, TypeError):
        return None
    is_number = isinstance(found, int | float) and not isinstance(found, bool)
    return float(found) if is_number and 0 <= found <= LONGEST_PAUSE else None
