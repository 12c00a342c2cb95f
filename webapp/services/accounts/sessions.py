"""Sessions of staff: listed with their devices, ended, and how lately their owner proved who it is.

Django's own sessions in a table that knows whose they are (`SESSION_ENGINE`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, cast

from django.conf import settings
from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.backends.base import SessionBase
from django.contrib.sessions.backends.db import SessionStore as DatabaseStore

from webapp import clock
from webapp.models import StaffSession
from webapp.services.rules import audit

FRESH = timedelta(minutes=10)  # that a proof is good for before export, pay and deletion
TOUCH = timedelta(minutes=1)  # between two notes of when a session was seen
DEVICE, BEGAN, PROVED, BOTH = "device", "began_at", "proved_at", "both_factors"
FIRST = "first_password"  # that the session was opened by one
UNKNOWN = "unknown device"
# The first that a browser names itself by is what it is: Edge says Chrome as well, Chrome Safari.
BROWSERS = {
    "Edg": "Edge",
    "OPR/": "Opera",
    "Firefox/": "Firefox",
    "FxiOS/": "Firefox",
    "Chrome/": "Chrome",
    "CriOS/": "Chrome",
    "Safari/": "Safari",
}
SYSTEMS = {
    "Android": "Android",
    "iPhone": "iPhone",
    "iPad": "iPad",
    "Windows": "Windows",
    "Mac OS X": "macOS",
    "CrOS": "ChromeOS",
    "Linux": "Linux",
}


class SessionStore(DatabaseStore):
    """Sessions with their account, device and times in columns."""

    seen_at: datetime | None = None

    @classmethod
    def get_model_class(cls) -> type[StaffSession]:
        return StaffSession

    def create_model_instance(self, data: dict[str, Any]) -> StaffSession:
        row = cast(StaffSession, super().create_model_instance(data))
        row.seen_at = clock.now()
        row.account_id = int(data[SESSION_KEY]) if SESSION_KEY in data else None
        row.device = data.get(DEVICE, "")
        row.began_at = datetime.fromisoformat(data[BEGAN]) if BEGAN in data else row.seen_at
        return row

    def _get_session_from_db(self) -> StaffSession | None:
        row: StaffSession | None = super()._get_session_from_db()  # type: ignore[misc]
        self.seen_at = row.seen_at if row else None
        return row


def is_signed_in(key: str) -> bool:
    """Tell whether the session of a cookie is of an account, by one query."""
    return SESSION_KEY in SessionStore(key).load()


@dataclass(frozen=True)
class SessionRow:
    """One session of the list; `key` names it and opens nothing."""

    key: str
    device: str
    began_at: datetime
    seen_at: datetime
    is_own: bool


def device_of(agent: str) -> str:
    """Return what a browser calls itself, as coarse as its owner needs to know it again."""
    browser = next((name for mark, name in BROWSERS.items() if mark in agent), "")
    system = next((name for mark, name in SYSTEMS.items() if mark in agent), "")
    return " on ".join(filter(None, (browser, system))) or UNKNOWN


def begin_of_login(*, request: Any, **kwargs: Any) -> None:
    """Note device and time of a session, however it was opened: Django's signal of a login."""
    begin(request.session, agent=request.headers.get("User-Agent", ""), now=clock.now())


def begin(session: Any, *, agent: str, now: datetime) -> None:
    """Note what a new session is of; signing in was a proof."""
    session[DEVICE] = device_of(agent)
    session[BEGAN] = session[PROVED] = now.isoformat()


def touch(session: Any, now: datetime) -> None:
    """Note that a session was seen, at most once a minute."""
    seen_at = getattr(session, "seen_at", None)
    if seen_at is not None and now - seen_at >= TOUCH:
        StaffSession.objects.filter(session_key=session.session_key).update(seen_at=now)


def prove(session: Any, now: datetime) -> None:
    """Note that the owner has just proved who it is."""
    session[PROVED] = now.isoformat()


def page_before(session: Mapping[str, Any] | SessionBase) -> str:
    """Return the name of the page that comes before all others, "" where none does.

    A password of one's own comes first, then as much as the server demands of everybody.
    """
    if session.get(FIRST):
        return "password"
    is_enough = not settings.SECOND_FACTOR_REQUIRED or session.get(BOTH)
    return "" if is_enough else "second-factor"


def is_fresh(session: Mapping[str, Any] | SessionBase, now: datetime) -> bool:
    """Tell whether the owner proved who it is within the last ten minutes."""
    proved_at = session.get(PROVED)
    return proved_at is not None and now - datetime.fromisoformat(proved_at) < FRESH


def listed(*, user: Any, own: str | None, now: datetime) -> list[SessionRow]:
    """Return an account's sessions, the latest first; `own` is the key of the one that asks."""
    rows = StaffSession.objects.filter(account=user.pk, expire_date__gt=now).order_by("-seen_at")
    return [
        SessionRow(
            _name(row.session_key),
            row.device or UNKNOWN,
            row.began_at,
            row.seen_at,
            row.session_key == own,
        )
        for row in rows
    ]


def end(*, user: Any, key: str, now: datetime) -> int:
    """End one of an account's sessions; its next request is sent to the login."""
    return _end(user, [k for k in _keys(user) if _name(k) == key], now)


def end_others(*, user: Any, own: str | None, now: datetime) -> int:
    """End all of an account's sessions but the one that asks, and return how many there were."""
    return _end(user, [key for key in _keys(user) if key != own], now)


def _keys(user: Any) -> list[str]:
    return list(StaffSession.objects.filter(account=user.pk).values_list("session_key", flat=True))


def _end(user: Any, keys: list[str], now: datetime) -> int:
    StaffSession.objects.filter(account=user.pk, session_key__in=keys).delete()
    if keys:
        name = user.get_username()
        audit.append(actor=name, action="sessions ended", campaign=None, now=now, count=len(keys))
    return len(keys)


def _name(key: str) -> str:
    """Return a name for a session: its key itself is a credential."""
    return hashlib.sha256(f"session:{key}".encode()).hexdigest()[:16]
