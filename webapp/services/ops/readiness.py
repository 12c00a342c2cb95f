"""Readiness of this process: what keeps it from serving people."""

from __future__ import annotations

import functools
import pkgutil
from collections.abc import Iterator
from pathlib import Path

from django.apps import apps
from django.conf import settings
from django.db import Error, connection
from django.db.migrations.recorder import MigrationRecorder

BROKER_SECONDS = 1.0  # to connect, and to answer


def lacking() -> Iterator[str]:
    """Yield what is missing: the database, migrations, the broker where one is set."""
    try:
        if is_behind():
            yield "migrations"
    except Error:
        yield "database"
        connection.close()
    if settings.REDIS_URL and not _broker_answers():
        yield "broker"


def is_behind() -> bool:
    """Tell whether the database lacks migrations of this version; it may be ahead of it.

    One that replaces others is not lacking where those are: if it is noted or not. Raises `Error`.
    """
    missing = _known_migrations() - MigrationRecorder(connection).applied_migrations().keys()
    return bool(missing) and bool(missing - _replacing_migrations())


@functools.cache
def _known_migrations() -> frozenset[tuple[str, str]]:
    """Return the app and name of each, from the names of files: to import all takes 0.2 s."""
    folders = {one.label: str(Path(one.path, "migrations")) for one in apps.get_app_configs()}
    return frozenset(
        (app, found.name)
        for app, folder in folders.items()
        for found in pkgutil.iter_modules([folder])
        if found.name[0] not in "_~"
    )


@functools.cache
def _replacing_migrations() -> frozenset[tuple[str, str]]:
    from django.db.migrations.loader import MigrationLoader

    found = MigrationLoader(None).disk_migrations
    return frozenset(name for name, one in found.items() if one.replaces)


def _broker_answers() -> bool:
    import redis

    patience = {"socket_timeout": BROKER_SECONDS, "socket_connect_timeout": BROKER_SECONDS}
    try:
        with redis.from_url(settings.REDIS_URL, **patience) as client:
            return bool(client.ping())
    except redis.RedisError:
        return False
