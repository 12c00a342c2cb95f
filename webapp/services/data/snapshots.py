"""A consistent view of the database: what is read inside is as it was when reading began (R31).

Apart because what makes a read consistent depends on the database alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection, transaction

PATIENCE = "60s"  # for one statement on PostgreSQL; pages have less


@contextmanager
def snapshot() -> Iterator[None]:
    """Let every read inside see one moment, without keeping anybody from writing.

    Within a transaction the caller's isolation holds. Django would begin SQLite's transactions as
    a writer (IMMEDIATE), and the study would stand still meanwhile: this one only reads.
    """
    if connection.in_atomic_block:
        yield
    elif connection.vendor == "postgresql":
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            cursor.execute(f"SET LOCAL statement_timeout = '{PATIENCE}'")
            yield
    else:
        with connection.cursor() as cursor:
            cursor.execute("BEGIN DEFERRED")
        try:
            yield
        finally:
            with connection.cursor() as cursor:
                cursor.execute("ROLLBACK")
