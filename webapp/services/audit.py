"""The append-only, hash-chained log of what staff and the platform did (S15)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from django.db import transaction

from webapp.models import AuditEntry, Campaign


def append(
    *, actor: str, action: str, campaign: Campaign | None, now: datetime, **detail: Any
) -> AuditEntry:
    """Append an entry; two at once cannot take the same number, the second one fails.

    On PostgreSQL the last row is locked so that the second waits instead; SQLite has one writer.
    """
    with transaction.atomic():
        last = AuditEntry.objects.select_for_update().order_by("-number").first()
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
