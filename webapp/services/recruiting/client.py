"""Calls of the panel's API, sorted by what is known of them afterwards.

Source: Prolific's public API reference (docs.prolific.com/api-reference, read 2026-11-23).
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from functools import lru_cache
from http import HTTPStatus
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from django.conf import settings

if TYPE_CHECKING:
    import httpx

SECONDS = 15.0  # of one request
LONGEST_PAUSE = 3_600.0
LONGEST_ERROR = 200
MOST_PAGES = 1_000
TRIES = 4  # of a page of a long list: 100 pages would else seldom be read to their end
MOST_WAITING = 60.0  # seconds that the reader of a list waits between calls, all together
BREATH = 0.1  # seconds before a page is asked for again after its answer was lost

Json = dict[str, Any]


class PanelRefusal(Exception):
    """The panel said no: nothing was done."""


class NotReached(Exception):
    """The call never arrived, or was put off; it may be made again after `pause` seconds."""

    def __init__(self, why: str, pause: float = 30.0) -> None:
        super().__init__(why)
        self.pause = pause


class AnswerLost(Exception):
    """The answer was lost: what was asked for may have been done."""


def is_on() -> bool:
    """Tell whether this server may speak to the panel."""
    return bool(settings.PROLIFIC_TOKEN)


def call(method: str, path: str, content: Mapping[str, Any] | None = None) -> Json:
    """Make one call; the answer's object. Raises `PanelRefusal`, `NotReached` and `AnswerLost`.

    No error names the token, which is in a header; none names the answer of a failed server.
    """
    return call_for_headers(method, path, content)[0]


def call_for_headers(
    method: str, path: str, content: Mapping[str, Any] | None = None
) -> tuple[Json, Mapping[str, str]]:
    """Make one call as `call` does; the answer's object, and its headers."""
    import httpx  # 0.15 s of each start, for what most servers never use

    try:
        answer = _client(settings.PROLIFIC_URL, settings.PROLIFIC_TOKEN).request(
            method, f"/api/v1/{path}", json=content
        )
    except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout) as problem:
        raise NotReached(type(problem).__name__) from None
    except (httpx.HTTPError, httpx.InvalidURL) as problem:
        raise AnswerLost(type(problem).__name__) from None
    return _read(answer), answer.headers


def _read(answer: httpx.Response) -> Json:
    status = answer.status_code
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        raise NotReached("status 429", _pause_of(answer))
    if status >= 500 or status < 200:
        raise AnswerLost(f"status {status}")
    if status >= 300:
        raise PanelRefusal(f"status {status}: {answer.text}"[:LONGEST_ERROR])
    try:
        found = answer.json() if answer.content else {}
    except ValueError:
        raise AnswerLost("no JSON") from None
    return found if isinstance(found, dict) else {"detail": found}


def pages(path: str, *, tries: int = 1) -> Iterator[Json]:
    """Yield every row of a list, page by page. Raises what `call` raises.

    tries: how often a page is asked for, with pauses of `MOST_WAITING` in all; who works under a
    lease asks once, since a pause could outlast it.
    """
    spent = 0.0
    for _ in range(MOST_PAGES):
        found, spent = _page(path, spent, tries)
        yield from found.get("results", ())
        following = ((found.get("_links") or {}).get("next") or {}).get("href")
        if not following:
            return
        parts = urlsplit(following)  # the rest of the address is ours: the token goes nowhere else
        path = f"{parts.path.removeprefix('/api/v1/')}?{parts.query}"
    raise AnswerLost(f"more than {MOST_PAGES} pages")


def _page(path: str, spent: float, tries: int) -> tuple[Json, float]:
    """Return a page, and the seconds that its list has cost in pauses; a repeat changes nothing."""
    for _ in range(tries - 1):
        try:
            return call("GET", path), spent
        except (NotReached, AnswerLost) as problem:
            pause = problem.pause if isinstance(problem, NotReached) else BREATH
            spent += pause
            if spent > MOST_WAITING:
                raise
            time.sleep(pause)
    return call("GET", path), spent


@lru_cache(maxsize=1)
def _client(base: str, token: str) -> httpx.Client:
    import httpx

    headers = {"Authorization": f"Token {token}"}
    return httpx.Client(
        base_url=base, headers=headers, timeout=SECONDS, trust_env=False, follow_redirects=False
    )


def hang_up() -> None:
    """Close the connections; a new process must not share them."""
    _client(settings.PROLIFIC_URL, settings.PROLIFIC_TOKEN).close()
    _client.cache_clear()


def _pause_of(answer: httpx.Response) -> float:
    raw = answer.headers.get("Retry-After", "")
    return min(float(raw), LONGEST_PAUSE) if raw.isascii() and raw.isdigit() else 60.0
