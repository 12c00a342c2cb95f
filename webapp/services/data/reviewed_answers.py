"""Answers that people confirmed or corrected at the staff desk, and the questions they had."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db.models import QuerySet

from webapp.models import Event, ReplyJob, ReviewedAnswer
from webapp.services.rules import audit
from webapp.services.rules.access import AnyCampaign, row_of

FILE = "reviewed_answers.csv"


def of_campaign(campaign: AnyCampaign) -> QuerySet[ReviewedAnswer]:
    """Return what was reviewed of a campaign."""
    return ReviewedAnswer.objects.filter(job__conversation__campaign=campaign.pk)


def about(details: Any) -> Mapping[str, Any]:
    """Return what a bot told about its reply, from the details of the job."""
    found = details.get("bot") if isinstance(details, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def questions(jobs: Sequence[ReplyJob]) -> dict[tuple[int, int], str]:
    """Return the messages that were answered, by conversation and seq; an opening answers none."""
    rows = Event.objects.filter(
        conversation__in={job.conversation_id for job in jobs},
        seq__in={job.in_reply_to for job in jobs},
        kind=Event.Kind.MESSAGE,
    )
    found = rows.values_list("conversation", "seq", "content")
    return {(where, seq): str(content.get("text", "")) for where, seq, content in found}


def labeled(campaign: AnyCampaign) -> Iterator[dict[str, str]]:
    """Yield the questions whose intent people know, in the order they were asked.

    Those that fit no intent, and those whose words were withdrawn, are left out.
    """
    for row, question in _with_questions(campaign):
        if row.intent and question:
            yield {"text": question, "label": row.intent}


def taken(*, campaign: AnyCampaign, by: Any, now: datetime) -> str:
    """Return the labeled questions as JSON Lines, and note who took them."""
    lines = [json.dumps(line, ensure_ascii=False) for line in labeled(campaign)]
    actor, row = by.get_username(), row_of(campaign)
    audit.append(actor=actor, action="questions taken", campaign=row, now=now, rows=len(lines))
    return "".join(f"{line}\n" for line in lines)


def rows(campaign: AnyCampaign) -> Iterator[dict[str, Any]]:
    """Yield a row per answer that was reviewed, as the export has them."""
    for row, question in _with_questions(campaign):
        yield {
            "conversation": row.job.conversation_id,
            "system": row.job.conversation.system.name,
            "in_reply_to": row.job.in_reply_to,
            "question": question,
            "guess": row.guess,
            "confidence": about(row.job.details).get("confidence", ""),
            "deferred": int(row.deferred),
            "intent": row.intent,
            "decided_at": row.decided_at.isoformat(),
        }


def _with_questions(campaign: AnyCampaign) -> Iterator[tuple[ReviewedAnswer, str]]:
    found = list(of_campaign(campaign).select_related("job__conversation__system").order_by("job"))
    texts = questions([row.job for row in found])
    for row in found:
        yield row, texts.get((row.job.conversation_id, row.job.in_reply_to), "")
