"""Acts of a person on a submission: reject it, ask for its return, write a message."""

from __future__ import annotations

import hashlib
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Q

from webapp.models import PanelCall, PanelStudy, PanelSubmission
from webapp.services.recruiting import client, codes, studies, submissions
from webapp.services.rules import access, audit, states

REVIEW = "AWAITING REVIEW"
# A part that was tried may have been paid; an approval that may have been is no longer due.
UNSENT = Q(stage=PanelCall.Stage.DUE) & (Q(action="APPROVE") | Q(attempt=0))
CATEGORIES = {
    "TOO_QUICKLY": "Too quickly",
    "TOO_SLOWLY": "Too slowly",
    "FAILED_INSTRUCTIONS": "Failed instructions",
    "INCOMP_LONGITUDINAL": "Incomplete longitudinal study",
    "FAILED_CHECK": "Failed attention checks",
    "LOW_EFFORT": "Low effort",
    "MALINGERING": "Malingering",
    "NO_CODE": "No completion code",
    "BAD_CODE": "Bad completion code",
    "NO_DATA": "No data",
    "UNSUPP_DEVICE": "Unsupported device",
    "OTHER": "Other",
}


def submission(study: PanelStudy, pk: int) -> PanelSubmission:
    """Return one of a study's submissions. Raises `access.NotFound`."""
    found = study.submissions.filter(pk=pk).first()
    if found is None:
        raise access.NotFound(f"submission {pk}")
    return found


def reject(
    *,
    one: PanelSubmission,
    category: str,
    message: str,
    evidence: str,
    by: Any,
    now: datetime,
) -> PanelCall:
    """Queue a rejection, with what it rests on in the audit log. Raises `states.Illegal`.

    Only what awaits review: what is approved, or on its way to be, stays so.
    """
    paying = one.calls.filter(action__in=("APPROVE", "PART")).exclude(stage=PanelCall.Stage.FAILED)
    unsent = paying.filter(UNSENT)
    if one.status != REVIEW or paying.exclude(UNSENT).exists():
        raise states.Illegal(one, "reject", one.status)
    content = {"action": "REJECT", "rejection_category": category, "message": message}
    with transaction.atomic():
        unsent.update(stage=PanelCall.Stage.FAILED, error="rejected by a person")
        return _queue(
            one, "REJECT", "reject", content, by, now, category=category, evidence=evidence
        )


def ask_return(*, one: PanelSubmission, reason: str, by: Any, now: datetime) -> PanelCall:
    """Queue a request to return; what is owed is paid as a bonus all the same."""
    if one.status != REVIEW:
        raise states.Illegal(one, "ask for the return of", one.status)
    content = {"request_return_reasons": [reason]}
    return _queue(one, "RETURN", "return", content, by, now, reason=reason)


def write(*, one: PanelSubmission, text: str, by: Any, now: datetime) -> PanelCall:
    """Queue a message; the same words to the same person are sent once."""
    key = f"message:{hashlib.sha256(text.encode()).hexdigest()[:16]}"
    return _queue(one, "MESSAGE", key, {"body": text}, by, now)


def _queue(
    one: PanelSubmission,
    action: str,
    key: str,
    content: dict[str, Any],
    by: Any,
    now: datetime,
    **noted: str,
) -> PanelCall:
    failed = one.calls.filter(action=action, stage=PanelCall.Stage.FAILED).count()
    again = f":{failed}" if failed else ""  # what failed may be asked for again
    with transaction.atomic():
        found, is_new = PanelCall.objects.get_or_create(
            key=f"{one.study.key}:{key}:{one.pk}{again}",
            defaults={
                "study": one.study,
                "submission": one,
                "action": action,
                "content": content,
                "due_at": now,
                "made_at": now,
            },
        )
        if is_new:
            audit.append(
                actor=by.get_username(),
                action=f"panel: {action.lower()} asked for",
                campaign=one.study.campaign,
                now=now,
                submission=one.pk,
                **noted,
            )
        return found


def send_due(now: datetime) -> int:
    """Make the calls about submissions that are due; return how many."""
    due = PanelCall.objects.filter(
        stage=PanelCall.Stage.DUE,
        due_at__lte=now,
        action__in=("REJECT", "RETURN", "MESSAGE", "PART"),
    )
    rows = due.select_related("study", "submission__study")[: studies.AT_ONCE]
    return sum(studies.attempt(one, _send, now) for one in rows)


def _send(one: PanelCall, now: datetime) -> None:
    assert one.submission is not None  # noqa: S101 - calls of these kinds have one
    path = f"submissions/{one.submission.submission_id}/"
    if one.action == "MESSAGE":
        _message(one, client.call("GET", path))
        return
    if one.action == "REJECT":
        client.call("POST", f"{path}transition/", one.content)
    elif one.action == "PART":
        _pay_part(one, one.submission, now)
    else:
        client.call("POST", f"{path}request-return/", one.content)
    submissions.read_one(one.submission, now)


def _pay_part(one: PanelCall, submission: PanelSubmission, now: datetime) -> None:
    """Pay a percentage of the reward; the panel ignores repeats."""
    content = {
        "action": "COMPLETE",
        "completion_code": one.study.codes[codes.BY_PERCENTAGE],
        "completion_code_data": {"percentage_of_reward": one.content["percentage"]},
    }
    try:
        client.call("POST", f"submissions/{submission.submission_id}/transition/", content)
    except client.PanelRefusal:  # as of a repeat after a lost answer: what it is now decides
        submissions.read_one(submission, now)
        raise


def _message(one: PanelCall, found: client.Json) -> None:
    """Send a message, at most once: the panel knows no repeats, so a lost answer ends it."""
    recipient = str(found.get("participant") or found.get("participant_id"))
    content = {"recipient_id": recipient, "study_id": one.study.study_id, **one.content}
    try:
        client.call("POST", "messages/", content)
    except client.AnswerLost as problem:
        raise client.PanelRefusal(f"{problem}: it may have arrived; look there first") from None


def calls_of(one: PanelSubmission) -> list[dict[str, str]]:
    """Return what was asked for about a submission, and what came of it."""
    return [
        {"action": each.action.lower(), "stage": each.get_stage_display(), "error": each.error}
        for each in one.calls.all()
    ]
