"""Calls of a bot, each kept whole: what it was asked, what it wrote, and what came of it.

A reply may take several calls: one that failed, or was refused, stays beside the next. Raw texts
are stored as JSON strings, which hold every character that a model can write, those that no
database or page can hold included.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from django.db import transaction
from django.db.models import Count, Q, QuerySet, Sum
from django.db.models.functions import Coalesce

from bots import Reply
from bots.bot import EVENTS as BOT_EVENTS
from webapp.models import Campaign, Conversation, ReplyCall, ReplyJob
from webapp.services.replies import allowances
from webapp.services.rules import events, statements

Outcome = ReplyCall.Outcome
EVENTS: Mapping[str, str] = {
    **{str(name): about for name, about in BOT_EVENTS.items()},
    "long": "the reply is longer than the platform shows, and its end is not shown",
    "unprintable": "characters that no page can hold were left out",
}
TROUBLES = ("empty", "filtered", "cut", "canned", "long")  # looked at before a launch
LATE = "the answer came after the job had gone to another worker, or was given up"
LARGEST_SEED = 2**31  # what every server takes as a seed


@dataclass(frozen=True)
class BotCall:
    """One call for a job, as it went; `error` says why it failed or was refused."""

    job: ReplyJob
    outcome: str
    seed: int
    reply: Reply = field(default_factory=lambda: Reply(""))
    error: str = ""
    seconds: float = 0.0
    parameters: Mapping[str, Any] = field(default_factory=dict)
    more: Sequence[str] = ()  # events of ours beside the bot's


@dataclass(frozen=True)
class ReplyCounts:
    """Calls of one system, and how many of them met each event; `troubled` met any trouble."""

    system: str
    calls: int
    shown: int
    failed: int
    refused: int
    unwanted: int
    troubled: int
    events: Mapping[str, int]
    tokens: int = 0  # as reported

    @property
    def share(self) -> float:
        """Share of calls that failed or met a trouble; 0 where there are none."""
        return self.troubled / self.calls if self.calls else 0.0


def numbers(jobs: Sequence[ReplyJob]) -> dict[int, int]:
    """Return the number that the next call of each job gets, from 1."""
    found = statements.calls_before({job.pk for job in jobs})
    return {pk: before.last + 1 for pk, before in found.items()}


def seed_for(job: ReplyJob, number: int) -> int:
    """Return the seed of a call's draws: of its system, conversation, turn, and of its number."""
    conversation = job.conversation
    system = conversation.system
    base = system.options.get("seed", 0)
    name = f"{system.name}:{base}:{conversation.seed}:{job.in_reply_to}:{number}"
    return int.from_bytes(sha256(name.encode()).digest()[:8], "big") % LARGEST_SEED


def record(made: Sequence[BotCall]) -> dict[int, Conversation]:
    """Store calls, whatever becomes of their replies; words of who withdrew meanwhile are not.

    Returns their conversations, whose locks the transaction then has.
    """
    with transaction.atomic():
        conversations = events.lock_all(call.job.conversation_id for call in made)
        before = statements.calls_before({call.job.pk for call in made})
        ReplyCall.objects.bulk_create(_row(call, before[call.job.pk]) for call in made)
        for call in sorted(made, key=_by_campaign):
            allowances.settle(call.job, call.reply, call.parameters, call.error)
    return conversations


def mark_late(jobs: Iterable[ReplyJob]) -> None:
    """Mark calls as failed whose answer came when the job was not their claim's any more.

    An answer that is stored again, as after a lost connection, is none of them. Where the
    conversation was over it is nobody's failure: the reply was not wanted any more.
    """
    for job in jobs:
        own = {"owner": job.owner, "attempt": job.attempt, "answered_at__isnull": False}
        row = ReplyJob.objects.filter(pk=job.pk)
        if row.filter(state=ReplyJob.State.DROPPED).exists():
            mark_unwanted(row)
        elif not row.filter(**own).exists():
            rows = ReplyCall.objects.filter(job=job.pk, attempt=job.attempt, outcome=Outcome.SHOWN)
            rows.update(outcome=Outcome.FAILED, error=LATE)


def mark_unwanted(jobs: QuerySet[ReplyJob]) -> None:
    """Mark calls whose reply would have been shown, had the conversation not been over."""
    rows = ReplyCall.objects.filter(job__in=jobs, outcome=Outcome.SHOWN)
    rows.update(outcome=Outcome.UNWANTED)


def _by_campaign(call: BotCall) -> tuple[int, int]:
    """Order in which rows of allowances are taken, so that nobody waits in a circle."""
    return call.job.conversation.campaign_id, call.job.conversation_id


def _row(call: BotCall, before: statements.CallsBefore) -> ReplyCall:
    reply, details = call.reply, call.reply.details
    usage = details.get("usage")
    counted = usage if isinstance(usage, Mapping) else {}
    raw = reply.text if reply.raw is None else reply.raw
    return ReplyCall(
        job=call.job,
        number=before.last + 1,
        attempt=call.job.attempt,
        outcome=call.outcome,
        events=spelled((*reply.events, *call.more)),
        error="" if before.is_withdrawn else call.error,
        raw=json.dumps("" if before.is_withdrawn else raw),
        reasoning=json.dumps("" if before.is_withdrawn else reply.reasoning),
        prompt=json.dumps(None if before.is_withdrawn else reply.prompt, default=str),
        parameters=json.dumps(dict(call.parameters), default=str, sort_keys=True),
        seed=call.seed,
        finish_reason=str(details.get("finish_reason", ""))[:40],
        prompt_tokens=_count(counted.get("prompt_tokens")),
        reply_tokens=_count(counted.get("completion_tokens")),
        tries=_count(details.get("attempts")) or 1,
        seconds=call.seconds,
    )


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and 0 <= value < LARGEST_SEED else None


def spelled(names: Iterable[str]) -> str:
    """Return events as a row holds them: between blanks, so that a query finds whole names."""
    return f" {' '.join(dict.fromkeys(names))} "


def counts(campaign: Campaign) -> list[ReplyCounts]:
    """Count the calls of each system in the data of the study, in one query."""
    study = (Conversation.Purpose.STUDY, Conversation.Purpose.CONTEXT)
    rows = ReplyCall.objects.filter(
        job__conversation__campaign=campaign, job__conversation__purpose__in=study
    )
    return counted(rows)


def counted(rows: QuerySet[ReplyCall]) -> list[ReplyCounts]:
    """Count calls by system and event."""
    each_event = {f"event_{name}": Count("pk", filter=_met(name)) for name in EVENTS}
    each_outcome = {f"outcome_{one}": Count("pk", filter=Q(outcome=one)) for one in Outcome.values}
    system = "job__conversation__system__name"
    grouped: QuerySet[Any, dict[str, Any]] = rows.values(system).annotate(
        calls=Count("pk"),
        troubled=Count("pk", filter=_troubled()),
        tokens=Sum(Coalesce("prompt_tokens", 0) + Coalesce("reply_tokens", 0)),
        **each_event,
        **each_outcome,
    )
    return [
        ReplyCounts(
            system=row[system],
            calls=row["calls"],
            shown=row[f"outcome_{Outcome.SHOWN}"],
            failed=row[f"outcome_{Outcome.FAILED}"],
            refused=row[f"outcome_{Outcome.REFUSED}"],
            unwanted=row[f"outcome_{Outcome.UNWANTED}"],
            troubled=row["troubled"],
            events={name: row[f"event_{name}"] for name in EVENTS},
            tokens=row["tokens"],
        )
        for row in grouped.order_by(system)
    ]


def _met(name: str) -> Q:
    return Q(events__contains=f" {name} ")


def _troubled() -> Q:
    found = Q(outcome=Outcome.FAILED)
    for name in TROUBLES:
        found |= _met(name)
    return found


def forget(conversation: Conversation) -> None:
    """Blank what calls hold of a conversation: a prompt repeats what people wrote."""
    rows = ReplyCall.objects.filter(job__conversation=conversation)
    rows.update(raw='""', reasoning='""', prompt="null", error="")
