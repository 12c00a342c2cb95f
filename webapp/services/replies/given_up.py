"""Failed and pending replies, for staff to see and to retry (R25)."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from webapp.models import ReplyJob
from webapp.services.replies import delivery
from webapp.services.rules import access, audit
from webapp.services.rules.access import AnyCampaign

J = ReplyJob.State
TROUBLED = (J.FAILED, J.QUEUED, J.CLAIMED)


def troubled(campaign: AnyCampaign) -> QuerySet[ReplyJob]:
    """Return failed and pending replies, newest first."""
    jobs = ReplyJob.objects.filter(conversation__campaign=campaign.pk, state__in=TROUBLED)
    return jobs.select_related("conversation__system").order_by("-id")


def retry(*, campaign: AnyCampaign, pk: int, by: Any, now: datetime) -> ReplyJob:
    """Let a reply that was given up be tried anew."""
    with transaction.atomic():
        job = ReplyJob.objects.filter(conversation__campaign=campaign.pk, pk=pk).first()
        if job is None:
            raise access.NotFound(f"job {pk} of campaign {campaign.pk}")
        delivery.retry(job)
        audit.append(
            actor=by.get_username(), action="reply retried", campaign=campaign, now=now, job=pk
        )
        return job
