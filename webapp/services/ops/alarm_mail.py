"""Alarms by e-mail to staff, each once; there are none without a mail server (S13).

A mail has neither words nor ids of a participant: it says which page to look at. It goes to who
runs the campaign and has an address; what is wrong with the whole server goes to superusers. Apart
because a mail server may be slow or away, which the rest of a tick knows nothing of.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from smtplib import SMTPException

from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.mail import EmailMessage
from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils.translation import override

from webapp.models import Campaign, Heartbeat, Member, ProblemReport, SentAlarm
from webapp.services.monitoring import monitor

log = logging.getLogger(__name__)
TURN = "alarm mail"  # the row that says when alarms were last looked at
EVERY = timedelta(minutes=1)
QUIET = timedelta(hours=1)  # without it an alarm that comes back is a new one
OF_SERVER = frozenset({"disk", "overload", "audit"})  # the same in every campaign
REPORTS = frozenset({"crisis", "reports"})  # each report is an alarm of its own
WORDS = {
    ProblemReport.Kind.CRISIS: "The words of a participant suggest a crisis: read them now.",
    ProblemReport.Kind.REPORTED: "A participant reported a problem.",
}
Kind = ProblemReport.Kind


@dataclass(frozen=True)
class _Alarm:
    """An alarm that is raised now; `kind` tells it from others of the campaign, if it has one."""

    campaign: Campaign | None
    kind: str
    text: str

    @property
    def name(self) -> str:
        return f"{self.campaign.pk if self.campaign else 0} {self.kind}"


def send_due(*, now: datetime) -> int:
    """Send what is raised and was not sent, looked at once a minute; return how many mails."""
    if not settings.EMAIL_HOST or not _is_time(now):
        return 0
    with override(settings.LANGUAGE_CODE):
        sent = sum(_send(each, now) for each in _raised(now))
    SentAlarm.objects.filter(seen_at__lt=now - QUIET).delete()
    return sent


def _is_time(now: datetime) -> bool:
    """Take the turn to look, of however many processes that tick."""
    Heartbeat.objects.get_or_create(  # its unique name decides between two at once
        name=TURN, defaults={"kind": "turn", "seen_at": now - 2 * EVERY}
    )
    rows = Heartbeat.objects.filter(name=TURN, seen_at__lte=now - EVERY)
    return rows.update(seen_at=now) == 1


def _raised(now: datetime) -> Iterator[_Alarm]:
    running = (Campaign.State.OPEN, Campaign.State.PAUSED)
    of_server: dict[str, _Alarm] = {}
    for campaign in Campaign.objects.filter(state__in=running):
        for alarm in monitor.alarms(campaign, now):
            if alarm.name in OF_SERVER:
                of_server[alarm.name] = _Alarm(None, alarm.name, alarm.text)
            elif alarm.name == "budget":  # one for each share of it
                yield _Alarm(campaign, alarm.text[:80], alarm.text)
            elif alarm.level == "danger" and alarm.name not in REPORTS:
                yield _Alarm(campaign, alarm.name, alarm.text)
    yield from of_server.values()
    reports = ProblemReport.objects.filter(settled_at=None)
    for report in reports.select_related("participation__campaign"):
        text = WORDS[Kind(report.kind)]
        yield _Alarm(report.participation.campaign, f"report {report.pk}", text)


def _send(alarm: _Alarm, now: datetime) -> bool:
    """Send an alarm unless it was sent; one that cannot be sent is tried again."""
    rows = SentAlarm.objects.filter(name=alarm.name)
    if rows.update(seen_at=now):
        return False
    to = _readers(alarm.campaign)
    if not to:
        return False
    try:
        with transaction.atomic():
            SentAlarm.objects.create(name=alarm.name, seen_at=now)
    except IntegrityError:  # another process sends it
        return False
    about = f"campaign {alarm.campaign.name!r}" if alarm.campaign else "the server"
    where = "Its page Live says more." if alarm.campaign else "docs/running.md says what to do."
    subject = f"Parley, {about}: {alarm.text}".replace("\n", " ")
    try:
        EmailMessage(subject, f"{alarm.text}\n\n{where}\n", None, [], bcc=to).send()
    except (SMTPException, OSError) as problem:
        log.warning("an alarm was not mailed: %s", type(problem).__name__)
        rows.delete()
        return False
    return True


def _readers(campaign: Campaign | None) -> Sequence[str]:
    users = get_user_model().objects.filter(is_active=True).exclude(email="")
    if campaign is None:
        return [*users.filter(is_superuser=True).values_list("email", flat=True)]
    leads = Q(is_runner=True) | Q(is_administrator=True)
    members = Member.objects.filter(leads, project=campaign.project_id, account__in=users)
    return [each.account.email for each in members.select_related("account").order_by("pk")]
