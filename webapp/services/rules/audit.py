"""The append-only, hash-chained log of what staff and the platform did (S15)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import connection, transaction

from webapp.models import AuditEntry, Heartbeat
from webapp.services.rules.access import AnyCampaign

CHECK = "check of the audit log"  # the row that says how far it is and what it found
DAY = timedelta(days=1)
AT_ONCE = 2_000  # entries of one step of the check: about 0.1 s
MOST_STEPS = 100  # of a check that somebody waits for
MOST = 100  # faults that are kept; one is reason enough to look
CHAIN = 7_261_001  # the advisory lock of the chain's end; any number nobody else uses


def append(
    *, actor: str, action: str, campaign: AnyCampaign | None, now: datetime, **detail: Any
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
            campaign_id=campaign.pk if campaign else None,
            detail=detail,
            made_at=now,
            previous_hash=last.hash if last else "",
        )
        entry.hash = _hash(entry)
        entry.save(force_insert=True)
        return entry


@dataclass(frozen=True)
class Fault:
    """An entry that does not fit into the chain, and why."""

    number: int
    why: str


def faults() -> Iterator[Fault]:
    """Yield each entry that was altered or whose predecessor is missing or was replaced."""
    return _faults(AuditEntry.objects.order_by("number").iterator(), "")


def broken_links() -> Iterator[int]:
    """Yield the numbers of these entries."""
    return (fault.number for fault in faults())


@dataclass(frozen=True)
class _Check:
    """How far a check is: the last entry that was read, what was found until there and before."""

    last: int = 0  # nothing is under way
    hash: str = ""
    found: tuple[int, ...] = ()
    before: tuple[int, ...] = ()  # by the check before this one


def check_some(*, now: datetime, at_once: int = AT_ONCE) -> int:
    """Go on with the check of all entries, begun once a day; returns how many faults were found.

    A step reads no more than `at_once` entries, so that a long log holds up nothing else.
    """
    row, _ = Heartbeat.objects.get_or_create(
        name=CHECK, defaults={"kind": "audit", "seen_at": now - DAY}
    )
    check = _Check(**row.detail)
    if not check.last and row.seen_at > now - DAY:
        return 0
    entries = list(AuditEntry.objects.filter(number__gt=check.last).order_by("number")[:at_once])
    new = [fault.number for fault in _faults(entries, check.hash)]
    found = (*check.found, *new)[:MOST]
    if len(entries) < at_once:
        step, begun_at = _Check(before=found), now
    else:
        end = entries[-1]
        step, begun_at = _Check(end.number, end.hash, found, check.before), row.seen_at
    Heartbeat.objects.filter(pk=row.pk).update(detail=asdict(step), seen_at=begun_at)
    return len(new)


def known_faults() -> list[int]:
    """Return the numbers of entries that the last check, or one under way, found not to fit."""
    details = Heartbeat.objects.filter(name=CHECK).values_list("detail", flat=True)
    checks = [_Check(**detail) for detail in details]
    return sorted({number for check in checks for number in (*check.found, *check.before)})


def checked_at() -> datetime | None:
    """Return when the last whole check ended."""
    row = Heartbeat.objects.filter(name=CHECK).first()
    return row.seen_at if row and not _Check(**row.detail).last else None


def check_whole(*, now: datetime) -> None:
    """Check all entries now, from the first one, up to `MOST_STEPS` steps; the sweeper goes on."""
    anew = {"detail": asdict(_Check()), "seen_at": now - DAY, "kind": "audit"}
    Heartbeat.objects.update_or_create(name=CHECK, defaults=anew)
    for _step in range(MOST_STEPS):
        check_some(now=now)
        if checked_at() == now:
            return


def is_altered(entry: AuditEntry) -> bool:
    """Tell whether an entry is not what was hashed."""
    return entry.hash != _hash(entry)


def _faults(entries: Iterable[AuditEntry], previous: str) -> Iterator[Fault]:
    for entry in entries:
        if is_altered(entry):
            yield Fault(entry.number, "it was altered")
        elif entry.previous_hash != previous:
            yield Fault(entry.number, "the entry before it is missing or was replaced")
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
