"""Erasure: what was deleted or replaced in rows leaves the database's log as well.

Apart because withdrawals and redactions both need it.
"""

from __future__ import annotations

from django.db import connection, transaction


def empty_log_on_commit() -> None:
    """Write SQLite's log into its file and cut it off: it holds what the pages said before.

    Deleted words in the pages themselves are overwritten (secure_delete, in the settings).
    """
    transaction.on_commit(_empty_log, robust=True)


def _empty_log() -> None:
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
