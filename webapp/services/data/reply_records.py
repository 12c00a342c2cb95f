"""Calls of bots in an export: as records of their conversation, as rows, and counted per system."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from webapp.models import Campaign, ReplyCall, ReplyJob
from webapp.services.data import tables
from webapp.services.replies import calls

Record = dict[str, Any]
CHUNK = 500


def call(row: ReplyCall, job: ReplyJob) -> Record:
    """Return a call, whole: `raw` is what the bot wrote, `shown` what people got of it."""
    return {
        "number": row.number,
        "attempt": row.attempt,
        "outcome": row.outcome,
        "events": row.events.split(),
        "error": row.error,
        "raw": json.loads(row.raw),
        "shown": job.text if row.outcome == ReplyCall.Outcome.SHOWN else "",
        "reasoning": json.loads(row.reasoning),
        "prompt": json.loads(row.prompt),
        "parameters": json.loads(row.parameters),
        "seed": row.seed,
        "finish_reason": row.finish_reason,
        "prompt_tokens": row.prompt_tokens,
        "reply_tokens": row.reply_tokens,
        "tries": row.tries,
        "seconds": row.seconds,
        "made_at": row.made_at.isoformat(),
    }


def reply_rows(campaign: Campaign) -> Iterator[Record]:
    """Yield a row per call in the study's conversations, those that failed included."""
    names = tables.system_names(campaign)
    kept = tables.conversations(campaign)
    rows = ReplyCall.objects.filter(job__conversation__in=kept.values("pk"))
    rows = rows.select_related("job__conversation").order_by("job__conversation", "job", "number")
    for row in rows.iterator(chunk_size=CHUNK):
        found = call(row, row.job)
        yield found | {
            "conversation": row.job.conversation_id,
            "system": names[row.job.conversation.system_id],
            "in_reply_to": row.job.in_reply_to,
            "events": ";".join(found["events"]),
            "raw": row.raw,
            "reasoning": row.reasoning,
            "prompt": row.prompt,
            "parameters": row.parameters,
        }


def event_rows(campaign: Campaign) -> Iterator[Record]:
    """Yield a row per system: its calls by outcome, and how many met each event."""
    for each in calls.counts(campaign):
        yield {
            "system": each.system,
            "calls": each.calls,
            "shown": each.shown,
            "refused": each.refused,
            "failed": each.failed,
            "unwanted": each.unwanted,
            "troubled": each.troubled,
            **each.events,
        }
