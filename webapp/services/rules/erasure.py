"""Erasure: what was deleted or replaced in rows leaves stored results and the database's log too.

Apart because withdrawals and redactions both need it.
"""

from __future__ import annotations

from django.db import connection, transaction
from django.db.models import F

from webapp.models import StoredResult


def empty_results() -> None:
    """Empty every stored result, in the transaction that erases what they rest on.

    All of them: words of a conversation may be in results of another campaign whose raters judged
    it. A computation that began before finds its row changed and stores nothing.
    """
    StoredResult.objects.update(
        content=None, marks="", made_at=None, answers=0, erasures=F("erasures") + 1
    )


def empty_log_on_commit() -> None:
    """Write SQLite's log into its file and cut it off: it holds what the pages said before.

    Deleted words in the pages themselves are overwritten (secure_delete, in the settings).
    """
    transaction.on_commit(_empty_log, robust=True)


def _empty_log() -> None:
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
