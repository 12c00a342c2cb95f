"""Checks that the database and the broker are set up for what is promised (R28, S18)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import redis
from django.conf import settings
from django.contrib.auth import get_user_model
from django.db import connection

LOOPBACK = ("", "localhost", "127.0.0.1", "::1")
SQLITE = {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1}


@dataclass(frozen=True)
class ServerCheck:
    """One thing that was looked at; `text` says what was found and what would be right."""

    ok: bool
    name: str
    text: str


def checks() -> list[ServerCheck]:
    """Look at every server this process is set to use."""
    database = _postgresql if connection.vendor == "postgresql" else _sqlite
    return [*database(), *_broker(), _mail()]


def _mail() -> ServerCheck:
    """Look whether alarms reach anybody: a mail server alone mails nothing."""
    people = get_user_model().objects.filter(is_active=True, is_staff=True).exclude(email="")
    if not settings.EMAIL_HOST:
        return ServerCheck(True, "mail of alarms", "not used: EMAIL_URL is not set")
    count = people.count()
    text = f"accounts with an address: {count}" if count else "no account has an address (Account)"
    return ServerCheck(bool(count), "mail of alarms", text)


def _sqlite() -> Iterator[ServerCheck]:
    with connection.cursor() as cursor:
        for name, right in SQLITE.items():
            cursor.execute(f"PRAGMA {name}")
            found = cursor.fetchone()[0]
            yield ServerCheck(found == right, f"SQLite {name}", f"is {found}, must be {right}")
    mode = settings.DATABASES["default"].get("OPTIONS", {}).get("transaction_mode")
    text = f"is {mode}, must be IMMEDIATE"
    yield ServerCheck(mode == "IMMEDIATE", "SQLite transaction mode", text)


def _postgresql() -> Iterator[ServerCheck]:
    wanted: dict[str, Callable[[str], bool]] = {
        "synchronous_commit": lambda found: found in ("on", "remote_write", "remote_apply"),
        "fsync": lambda found: found == "on",
        "full_page_writes": lambda found: found == "on",
        "statement_timeout": lambda found: found not in ("0", ""),
        "server_encoding": lambda found: found == "UTF8",
    }
    with connection.cursor() as cursor:
        for name, is_right in wanted.items():
            cursor.execute("SELECT current_setting(%s)", [name])
            found = cursor.fetchone()[0]
            right = {"statement_timeout": "above 0", "server_encoding": "UTF8"}.get(name, "on")
            yield ServerCheck(
                is_right(found), f"PostgreSQL {name}", f"is {found or 'empty'}, must be {right}"
            )
        cursor.execute("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()")
        encrypted = bool(cursor.fetchone()[0])
        cursor.execute("SELECT current_user, rolsuper FROM pg_roles WHERE rolname = current_user")
        name, is_superuser = cursor.fetchone()
    limited = f"{name} is {'a' if is_superuser else 'no'} superuser, must be none"
    yield ServerCheck(not is_superuser, "PostgreSQL account", limited)
    host = str(settings.DATABASES["default"].get("HOST", ""))
    local = host in LOOPBACK or host.startswith("/")
    how = "local" if local else "encrypted" if encrypted else "not encrypted: use sslmode=require"
    yield ServerCheck(
        local or encrypted, "PostgreSQL connection", f"to {host or 'a socket'} is {how}"
    )


def _broker() -> Iterator[ServerCheck]:
    if not settings.REDIS_URL:
        yield ServerCheck(True, "Redis", "not used: hints stay within one process")
        return
    address = urlsplit(settings.REDIS_URL)
    local = (address.hostname or "") in LOOPBACK
    safe = local or (address.scheme == "rediss" and bool(address.password))
    yield ServerCheck(
        safe,
        "Redis connection",
        "is local" if local else "must be local, or rediss:// with a password",
    )
    try:
        client: Any = redis.from_url(settings.REDIS_URL, socket_timeout=5)
        policy = client.config_get("maxmemory-policy").get("maxmemory-policy")
    except redis.RedisError as problem:
        yield ServerCheck(False, "Redis", f"does not answer: {problem}")
        return
    yield ServerCheck(
        policy == "noeviction", "Redis maxmemory-policy", f"is {policy}, must be noeviction"
    )
    yield _authentication(client, local)


def _authentication(client: Any, local: bool) -> ServerCheck:
    password = client.config_get("requirepass").get("requirepass")
    protected = client.config_get("protected-mode").get("protected-mode") == "yes"
    text = "a password is set" if password else "no password; only this machine can connect"
    if not password and not (local and protected):
        text = "set requirepass, or leave protected-mode on"
    return ServerCheck(bool(password) or (local and protected), "Redis authentication", text)
