"""Submissions as the panel tells of them. Only what is read there is believed.

An event is a hint to look, whatever its order, repeats or loss; polling finds what no event told.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import logging
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Q

from webapp.models import PanelEvent, PanelPayment, PanelStudy, PanelSubmission, Participation
from webapp.services.recruiting import client, codes, hooks, studies
from webapp.services.rules import identity

log = logging.getLogger(__name__)
POLL = timedelta(minutes=5)
LOOKS = 100  # submissions read one by one in a turn; more are read as a list
OLDEST = 600.0  # seconds between a request's time and its arrival; its signature holds for so long
KEEP_EVENTS = timedelta(days=3)  # they are told again for a day
TERMINAL = ("APPROVED", "REJECTED", "RETURNED", "TIMED-OUT", "SCREENED OUT", "PARTIALLY APPROVED")
PURGED = "purged "


def is_signed(*, body: bytes, timestamp: str, signature: str, now: datetime) -> bool:
    """Tell whether the panel sent this body lately: base64 of HMAC-SHA-256 of time and body."""
    if not (timestamp.isascii() and timestamp.isdigit() and len(timestamp) < 12):
        return False
    if abs(now.timestamp() - int(timestamp)) > OLDEST:
        return False
    received = signature.encode("utf-8", "surrogateescape")
    return any(
        hmac.compare_digest(_signature(secret, timestamp.encode() + body), received)
        for secret in hooks.secrets()
    )


def _signature(secret: str, content: bytes) -> bytes:
    return base64.b64encode(hmac.digest(secret.encode(), content, hashlib.sha256))


def take_event(*, event_id: str, kind: str, resource_id: str, now: datetime) -> bool:
    """Note that a submission or study has changed; False where this event came before."""
    with transaction.atomic():
        _, is_new = PanelEvent.objects.get_or_create(event_id=event_id, defaults={"taken_at": now})
        if not is_new:
            return False
        known = PanelSubmission.objects.filter(submission_id=resource_id)
        if kind != "submission.status.change":
            PanelStudy.objects.filter(study_id=resource_id).update(read_at=None)
        elif not known.update(look=True):
            PanelStudy.objects.exclude(study_id=None).update(read_at=None)
        return True


def read_due(now: datetime) -> list[PanelStudy]:
    """Read what is due, whole studies or single submissions; return the studies with news."""
    running = PanelStudy.objects.exclude(study_id=None)
    running = running.exclude(campaign__ended_at__lt=now - _kept())  # else ids would come back
    late = running.filter(Q(read_at=None) | Q(read_at__lt=now - POLL))
    many = [study for study in running if _looks(study) > LOOKS]
    whole = [study for study in {*late, *many} if _try_read(study, now)]
    return [*whole, *_read_looks(now)]


def _looks(study: PanelStudy) -> int:
    return study.submissions.filter(look=True).count()


def _try_read(study: PanelStudy, now: datetime) -> bool:
    try:
        read_all(study, now)
    except (client.PanelRefusal, client.NotReached, client.AnswerLost) as problem:
        error = str(problem)[:200]
        PanelStudy.objects.filter(pk=study.pk).update(error=error, read_at=now - POLL / 2)
        return False
    return True


def read_all(study: PanelStudy, now: datetime) -> None:
    """Read a study and all its submissions. Raises what `client.call` raises."""
    PanelStudy.objects.filter(pk=study.pk).update(read_at=now)  # an event from here on counts again
    study.submissions.filter(look=True).update(look=False)
    studies.read(study, now)
    path = f"studies/{study.study_id}/submissions/"
    rows = list(client.pages(path, tries=client.TRIES))
    before = {row.submission_id: row for row in study.submissions.all()}
    for start in range(0, len(rows), LOOKS):
        with transaction.atomic():
            for row in rows[start : start + LOOKS]:
                note(study, row, now, before.get(str(row["id"])))
    _note_reading(study, {str(row["id"]) for row in rows}, now)
    PanelStudy.objects.filter(pk=study.pk).update(error="")


def _read_looks(now: datetime) -> list[PanelStudy]:
    changed: dict[int, PanelStudy] = {}
    due = PanelSubmission.objects.filter(look=True).select_related("study").order_by("pk")
    for one in due[:LOOKS]:
        try:
            read_one(one, now)
            changed[one.study_id] = one.study
        except client.PanelRefusal as problem:  # the list will tell, if it is still there
            log.warning("panel: submission %s: %s", one.pk, problem)
        except (client.NotReached, client.AnswerLost) as problem:
            log.warning("panel: submission %s: %s", one.pk, problem)
            break
    return list(changed.values())


def read_one(one: PanelSubmission, now: datetime) -> None:
    """Read one submission. Raises what `client.call` raises."""
    PanelSubmission.objects.filter(pk=one.pk).update(look=False)
    try:
        found = client.call("GET", f"submissions/{one.submission_id}/")
    except (client.NotReached, client.AnswerLost):
        PanelSubmission.objects.filter(pk=one.pk).update(look=True)
        raise
    one.refresh_from_db()
    note(one.study, found, now, one)
    PanelSubmission.objects.filter(pk=one.pk).update(read_at=now)


def note(
    study: PanelStudy, found: client.Json, now: datetime, known: PanelSubmission | None
) -> None:
    """Store what was read of a submission that changed, and confirm a bonus that is seen."""
    paid = found.get("bonus_payments")
    values: dict[str, Any] = {
        "status": str(found.get("status", ""))[:30],
        "entered_code": str(found.get("entered_code") or found.get("study_code") or "")[:40],
        "return_requested": bool(found.get("return_requested")),
    }
    if paid is not None:
        values["bonus_seen"] = round(sum(paid))
    if known is None or known.participation_id is None:
        person = _person(study, found)
        values |= {"participation": person} if person else {}
    if known is None:
        about = {"study": study, "read_at": now, **values}
        PanelSubmission.objects.update_or_create(submission_id=str(found["id"]), defaults=about)
    elif any(getattr(known, name) != value for name, value in values.items()):
        PanelSubmission.objects.filter(pk=known.pk).update(read_at=now, **values)
        _confirm(known, values.get("bonus_seen", 0), now)


def _note_reading(study: PanelStudy, ids: set[str], now: datetime) -> None:
    """Note that these were read, changed or not."""
    known = study.submissions.values_list("pk", "submission_id")
    read = [pk for pk, submission_id in known if submission_id in ids]
    for start in range(0, len(read), LOOKS):
        rows = study.submissions.filter(pk__in=read[start : start + LOOKS])
        rows.update(read_at=now)


def _confirm(one: PanelSubmission, cents: int, now: datetime) -> None:
    for payment in PanelPayment.objects.filter(submission=one, paid_at=None):
        if cents >= payment.start + payment.amount:
            PanelPayment.objects.filter(pk=payment.pk, paid_at=None).update(paid_at=now)


def _person(study: PanelStudy, found: client.Json) -> Participation | None:
    """Return whose submission it is; None for a stranger, and for a second one of a person."""
    claimed = str(found.get("participant_id") or found.get("participant") or "")
    names = identity.pseudonyms(study.campaign, codes.PLATFORM, claimed)
    rows = Participation.objects.filter(campaign=study.campaign_id, pseudonym__in=names)
    return rows.filter(panel_submission=None).first() if claimed else None


def forget_old(*, now: datetime) -> int:
    """Delete events that come no more, and the ids of submissions when outside ids go."""
    gone = PanelEvent.objects.filter(taken_at__lt=now - KEEP_EVENTS).delete()[0]
    old = PanelSubmission.objects.filter(study__campaign__ended_at__lt=now - _kept())
    for one in old.exclude(submission_id__startswith=PURGED)[:1_000]:
        PanelSubmission.objects.filter(pk=one.pk).update(submission_id=f"{PURGED}{one.pk}")
        gone += 1
    return gone


def _kept() -> timedelta:
    """Return for how long after its end ids of a campaign are kept, as outside ids are."""
    return timedelta(days=settings.KEEP_IDS_DAYS)
