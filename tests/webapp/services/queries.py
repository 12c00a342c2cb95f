"""Queries as the database sees them: the order of writes, the rows that are read."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from django.db import connection
from django.test.utils import CaptureQueriesContext

MOVED = re.compile(r'UPDATE "webapp_participation" SET "state".*"id" = (\d+)')


def moved(action: Callable[[], object]) -> list[int]:
    """Return the participations whose state an action changed, in the order of the UPDATEs."""
    found = (MOVED.search(sql) for sql in _run(action))
    return [int(one[1]) for one in found if one is not None]


def rows_read(action: Callable[[], object], table: str) -> list[tuple[Any, ...]]:
    """Return the rows of a table that an action reads; nothing may be written meanwhile."""
    begin = re.compile(rf'SELECT [^(]*FROM "{table}"')
    rows: list[tuple[Any, ...]] = []
    for sql in _run(action):
        if begin.match(sql):
            with connection.cursor() as cursor:
                cursor.execute(sql.replace("%", "%%"))
                rows += cursor.fetchall()
    return rows


def _run(action: Callable[[], object]) -> list[str]:
    with CaptureQueriesContext(connection) as queries:
        action()
    return [query["sql"] for query in queries]
