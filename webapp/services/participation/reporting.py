"""Reports of problems by participants: what went wrong, in their own words, for staff to read.

A report changes nothing: no step, no pay, no data. It is in no export, and goes with a withdrawal.
Apart because no step has a part in it.
"""

from __future__ import annotations

from datetime import datetime

from django.db import transaction

from webapp.models import Participation, ProblemReport
from webapp.services.rules.refusals import NotNow

MOST = 10  # of one participation
LONGEST = 2_000  # characters


def report(*, person: Participation, text: str, now: datetime) -> ProblemReport:
    """Keep what a person reports; the same words again are the same report.

    Raises `NotNow` for no text, too long a one, one that cannot be stored, or too many reports.
    """
    text = _checked(text)
    with transaction.atomic():
        person = Participation.objects.select_for_update(no_key=True).get(pk=person.pk)
        reports = ProblemReport.objects.filter(
            participation=person, kind=ProblemReport.Kind.REPORTED
        )
        same = reports.filter(text=text, settled_at=None).first()
        if same is not None:
            return same
        if person.withdrawn_at is not None:
            raise NotNow("not_now")
        if reports.count() >= MOST:
            raise NotNow("report_many", most=MOST)
        seat = person.seats.order_by("-pk").first()
        return ProblemReport.objects.create(
            participation=person,
            conversation=None if seat is None else seat.conversation,
            step=person.state,
            text=text,
            made_at=now,
        )


def _checked(text: str) -> str:
    text = text.replace("\r\n", "\n").strip()  # a browser sends every line break as two
    if not text:
        raise NotNow("report_empty")
    if len(text) > LONGEST:
        raise NotNow("report_long", limit=LONGEST, count=len(text))
    if "\0" in text or any("\ud800" <= letter <= "\udfff" for letter in text):
        raise NotNow("bad_text")
    return text
