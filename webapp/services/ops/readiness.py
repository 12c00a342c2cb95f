"""Readiness of this process: what keeps it from serving people."""

from __future__ import annotations

import functools
from collections.abc import Iterator

import redis
from django.conf import settings
from django.db import Error, connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

BROKER_SECONDS = 1.0  # to connect, and to answer


def lacking() -> Iterator[str]:
    """Yield what is missing: the database, migrations, the broker where one is set."""
    try:
        if _known_migrations() - MigrationRecorder(connection).applied_migrations().keys():
            yield "migrations"
    except Error:
        yield "database"
        connection.close()
    if settings.REDIS_URL and not _broker_answers():
        yield "broker"


@functools.cache
def _known_migrations() -> frozenset[tuple[str, str]]:
    """Return those of this version; a database that is ahead of it serves it as well.

    One that replaces others is left out: who has those lacks nothing, if it is noted or not.
    """
    found = MigrationLoader(None).disk_migrations
    return frozenset(name for name, one in found.items() if not one.replaces)


def _broker_answers() -> bool:
    patience = {"socket_timeout": BROKER_SECONDS, "socket_connect_timeout": BROKER_SECONDS}
    try:
        with redis.from_url(settings.REDIS_URL, **patience) as client:
            return bool(client.ping())
    except redis.RedisError:
        return False
