"""Turns of the latest rehearsals, as a draft's page shows them: heard, answered, and what is wrong.

Apart because a page reads them, and rehearsals are played by reply workers.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Max, QuerySet

from webapp.models import Conversation, Event, ReplyCall, System
from webapp.services.replies import rehearsal
from webapp.services.rules.access import AnyCampaign


@dataclass(frozen=True)
class RehearsedTurn:
    """One call; `heard` is "" where the bot opens or tries again, `answered` what it wrote."""

    heard: str
    answered: str
    fault: str


def turns(campaign: AnyCampaign) -> Mapping[int, Sequence[RehearsedTurn]]:
    """Return the turns of each system's latest rehearsal, by the system's key.

    Of a system that was changed since there are none: what it answered then it need not answer now.
    """
    latest = _latest(campaign)
    heard = {
        (conversation, seq): str(content.get("text", ""))
        for conversation, seq, content in Event.objects.filter(
            conversation__in=latest, kind=Event.Kind.MESSAGE
        ).values_list("conversation", "seq", "content")
    }
    by_system: dict[int, list[ReplyCall]] = defaultdict(list)
    calls = ReplyCall.objects.filter(job__conversation__in=latest).order_by("job", "number")
    for call in calls.select_related("job__conversation"):
        by_system[call.job.conversation.system_id].append(call)
    return {system: _turns(calls, heard) for system, calls in by_system.items()}


def _latest(campaign: AnyCampaign) -> QuerySet[Any, Any]:
    rehearsals = Conversation.objects.filter(
        campaign=campaign.pk, purpose=Conversation.Purpose.REHEARSAL, minimum__gt=0
    ).exclude(system__rehearsal=System.Rehearsal.UNTESTED)
    return rehearsals.values("system").annotate(latest=Max("pk")).values("latest")


def _turns(calls: Sequence[ReplyCall], heard: Mapping[tuple[int, int], str]) -> list[RehearsedTurn]:
    replies = [rehearsal.reply_of(call) for call in calls]
    return [
        RehearsedTurn(
            heard.get((call.job.conversation_id, call.job.in_reply_to), "") * (call.number == 1),
            text or str(json.loads(call.raw) or ""),
            call.error or fault,
        )
        for call, (text, _), fault in zip(calls, replies, rehearsal.faults(replies), strict=True)
    ]
