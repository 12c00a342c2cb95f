"""Queries as the database sees them: the order of writes, the rows that are read."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from django.db import connection
from django.test.utils import CaptureQueriesContext

SCAN = re.compile(r"SCAN (?!.*VIRTUAL|\()\w")
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


def scanned(action: Callable[[], object]) -> dict[str, str]:
    """Return the tables read from end to end by SQLite's plans, each with a query."""
    found: dict[str, str] = {}
    for sql in _run(action):
        # The last row alone, in the order of an index, ends after a step.
        last_row = sql.endswith("LIMIT 1") and " WHERE " not in sql
        if sql.startswith(("SELECT", "UPDATE")) and not last_row:
            with connection.cursor() as cursor:
                cursor.execute("EXPLAIN QUERY PLAN " + sql)
                steps = [step[3] for step in cursor.fetchall()]
            for alias in (step.split()[1] for step in steps if SCAN.match(step)):
                found[_table(alias, sql)] = sql
    return found


def _table(alias: str, sql: str) -> str:
    named = re.search(rf'"(\w+)" {alias}\b', sql)
    return named[1] if named else alias


def _run(action: Callable[[], object]) -> list[str]:
    with CaptureQueriesContext(connection) as queries:
        action()
    return [query["sql"] for query in queries]
