"""Stored results: what a page shows, how old it is, and whether a newer one is on its way.

Nothing here computes or loads what computes: `computing` does, in a process of its own.
"""

from __future__ import annotations

import json
import zlib
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models.functions import Now

from webapp import clock, realtime
from webapp.models import Campaign, Heartbeat, StoredResult, Study
from webapp.services.results import marks
from webapp.services.rules.access import AnyCampaign, AnyStudy, StaffStudy

Evaluated = AnyCampaign | AnyStudy
ALIVE = timedelta(seconds=30)  # since the last sign of life of who computes
REST = 10  # a newer one is not begun by itself before so many times what the last one took
LONGEST_REST = 60.0  # seconds
KIND = "results"


@dataclass(frozen=True, kw_only=True)
class Found:
    """A result as it is stored. content: None where there is none to be shown.

    made_at: the time of its data; seconds: that it took; wanted_at: since when a newer one is
    waited for; problem: why there is no newer one.
    """

    name: str
    choice: str
    content: Any = None
    made_at: datetime | None = None
    answers: int = 0
    seconds: float = 0.0
    is_current: bool = False
    wanted_at: datetime | None = None
    problem: str = ""


def subject_of(of: Evaluated) -> str:
    """Return what results of a campaign or a study are stored under."""
    return f"{'study' if isinstance(of, Study | StaffStudy) else 'campaign'}-{of.pk}"


def look(*, of: Evaluated, name: str, choice: str, now: datetime, rest: float = 0.0) -> Found:
    """Return a result as it is stored; one that is missing or not current becomes wanted.

    A newer one is begun at once if the last one is older than `rest` seconds and ten times what
    it took, at most a minute: pages that are looked at often do not compute without end. After a
    failure one is begun only by `want`.
    """
    row = _row(of, name, choice).first()
    if row is None:
        return want(of=of, name=name, choice=choice, now=now)
    if row.wanted_at is not None:
        realtime.want_on_commit(row.subject)
        return _found(row)
    if row.content is not None and _is_current(of, row):
        return _found(row, is_current=True)
    if row.problem or not _has_rested(row, now, rest):
        return _found(row)
    return want(of=of, name=name, choice=choice, now=now)


def status(*, of: Evaluated, name: str, choice: str) -> Found:
    """Return how a result stands, without wanting a newer one."""
    row = _row(of, name, choice).defer("content").first()
    if row is None:
        return Found(name=name, choice=choice)
    if row.wanted_at is not None:
        realtime.want_on_commit(row.subject)  # the process that was told may be gone
    return _described(row)


def want(*, of: Evaluated, name: str, choice: str, now: datetime) -> Found:
    """Want a newer result; where one is wanted already, the same is waited for."""
    with transaction.atomic():
        row, _ = StoredResult.objects.get_or_create(
            subject=subject_of(of), name=name, choice=choice
        )
        rows = StoredResult.objects.filter(pk=row.pk, wanted_at=None)
        if rows.update(wanted_at=now, problem=""):
            row.wanted_at, row.problem = now, ""
        realtime.want_on_commit(row.subject)
    return _found(row)


def _row(of: Evaluated, name: str, choice: str) -> Any:
    return StoredResult.objects.filter(subject=subject_of(of), name=name, choice=choice)


def _has_rested(row: StoredResult, now: datetime, rest: float) -> bool:
    if row.content is None or row.made_at is None:
        return True
    wait = max(rest, min(LONGEST_REST, REST * row.seconds))
    return now - row.made_at >= timedelta(seconds=wait)


def _is_current(of: Evaluated, row: StoredResult) -> bool:
    found, study = campaigns_of(of)
    same = row.marks == marks.of(found, study)
    return same and not marks.newer_answers(found, row.last_rating)


def campaigns_of(of: Evaluated) -> tuple[list[int], int | None]:
    """Return the numbers of the campaigns that results are of, and of the study, if it is one."""
    if isinstance(of, Study | StaffStudy):
        rows = Campaign.objects.filter(study=of.pk).order_by("pk")
        return list(rows.values_list("pk", flat=True)), of.pk
    return [of.pk], None


def _found(row: StoredResult, *, is_current: bool = False) -> Found:
    content = None if row.content is None else json.loads(zlib.decompress(row.content))
    return _described(row, content=content, is_current=is_current)


def _described(row: StoredResult, **more: Any) -> Found:
    return Found(
        name=row.name,
        choice=row.choice,
        made_at=row.made_at,
        answers=row.answers,
        seconds=row.seconds,
        wanted_at=row.wanted_at,
        problem=row.problem,
        **more,
    )


# --- of who computes ------------------------------------------------------------------------------


def next_wanted(subject: str) -> StoredResult | None:
    """Return the result of a subject that was wanted first."""
    rows = StoredResult.objects.filter(subject=subject, wanted_at__isnull=False)
    return rows.defer("content").order_by("wanted_at", "pk").first()


def keep(row: StoredResult, content: Any, **values: Any) -> bool:
    """Store a result, unless something was erased since `row` was read; tell whether it is."""
    packed = zlib.compress(json.dumps(content, ensure_ascii=False, allow_nan=False).encode(), 6)
    rows = StoredResult.objects.filter(pk=row.pk, erasures=row.erasures)
    return bool(rows.update(content=packed, wanted_at=None, problem="", **values))


def fail(row: StoredResult, problem: str) -> None:
    """Say why there is no newer result."""
    StoredResult.objects.filter(pk=row.pk).update(wanted_at=None, problem=problem[:200])


def fail_all(subject: str, problem: str, *, before: datetime | None = None) -> int:
    """Say of every result of a subject that is waited for why it does not come."""
    rows = StoredResult.objects.filter(subject=subject, wanted_at__isnull=False)
    rows = rows if before is None else rows.filter(wanted_at__lte=before)
    return rows.update(wanted_at=None, problem=problem[:200])


def begin(subject: str, owner: str) -> bool:
    """Take the turn to compute a subject's results; False where somebody else has it.

    Where who had it is gone without a word, what was waited for is told to have failed: it may
    have taken the whole server with it, so that only a person may begin it anew.
    """
    with transaction.atomic():
        row, is_new = Heartbeat.objects.get_or_create(
            name=f"{KIND} {subject}",
            defaults={"kind": KIND, "detail": {"owner": owner}, "seen_at": clock.now()},
        )
        if is_new:
            return True
        gone = Heartbeat.objects.filter(pk=row.pk, seen_at__lt=clock.now() - ALIVE)
        if gone.delete()[0]:
            fail_all(subject, "the server stopped while it was computed", before=row.seen_at)
        return False


def beat(subject: str) -> None:
    """Give a sign of life of who computes a subject's results."""
    Heartbeat.objects.filter(name=f"{KIND} {subject}").update(seen_at=Now())


def end(subject: str) -> None:
    """Give the turn back."""
    Heartbeat.objects.filter(name=f"{KIND} {subject}", kind=KIND).delete()
