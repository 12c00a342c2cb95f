"""The append-only, hash-chained log of what staff and the platform did (S15)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from django.db import connection, transaction

from webapp.models import AuditEntry, Campaign

CHAIN = 7_261_001  # the advisory lock of the chain's end; any number nobody else uses


def append(
    *, actor: str, action: str, campaign: Campaign | None, now: datetime, **detail: Any
) -> AuditEntry:
    """Append an entry; the number is unique, so two at once cannot both be next.

    PostgreSQL waits at an advisory lock until the transaction of the entry before has ended: who
    waits for a lock on the last row does not see the row after it. SQLite has one writer. Append
    last in a transaction: everybody else's entries wait for its end.
    """
    with transaction.atomic():
        if connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_advisory_xact_lock(%s)", [CHAIN])
        last = AuditEntry.objects.order_by("-number").first()
        entry = AuditEntry(
            number=last.number + 1 if last else 1,
            actor=actor,
            action=action,
            campaign=campaign,
            detail=detail,
            made_at=now,
            previous_hash=last.hash if last else "",
        )
        entry.hash = _hash(entry)
        entry.save(force_insert=True)
        return entry


def broken_links() -> Iterator[int]:
    """Yield the number of each entry that was altered or whose predecessor is missing."""
    previous = ""
    for entry in AuditEntry.objects.order_by("number").iterator():
        if entry.previous_hash != previous or entry.hash != _hash(entry):
            yield entry.number
        previous = entry.hash


def _hash(entry: AuditEntry) -> str:
    fields = [
        entry.number,
        entry.actor,
        entry.action,
        entry.campaign_id,
        entry.detail,
        entry.made_at.isoformat(),
        entry.previous_hash,
    ]
    return hashlib.sha256(json.dumps(fields, sort_keys=True).encode()).hexdigest()
