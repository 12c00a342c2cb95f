"""The bots of a campaign: what they owe, how fast they answer, and who works for them."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Min, QuerySet

from webapp.models import Campaign, Conversation, ReplyJob, System
from webapp.services import heartbeats

J = ReplyJob.State
OWED = (J.QUEUED, J.CLAIMED)
RECENT = 500  # replies that the reply times are taken from


@dataclass(frozen=True)
class BotState:
    """A bot's queue, its reply times in seconds, and who works for it."""

    bot: str
    waiting: int
    oldest: float | None
    p50: float | None
    p95: float | None
    replies: int
    workers: int


def look(campaign: Campaign, systems: Sequence[System], now: datetime) -> tuple[BotState, ...]:
    """Return the state of each bot, in four queries."""
    jobs = ReplyJob.objects.filter(conversation__campaign=campaign)
    queues = {
        bot: (count, oldest)
        for bot, count, oldest in jobs.filter(state__in=OWED)
        .values_list("bot")
        .annotate(Count("pk"), Min("queued_at"))
        .order_by()
    }
    times, workers = _reply_times(campaign), heartbeats.alive(now)
    names = sorted({system.bot for system in systems if not system.is_people})
    return tuple(
        BotState(
            bot=name,
            waiting=queues.get(name, (0, None))[0],
            oldest=_age(queues.get(name, (0, None))[1], now),
            p50=quantile(times[name], 0.5),
            p95=quantile(times[name], 0.95),
            replies=len(times[name]),
            workers=heartbeats.hosting(workers, name),
        )
        for name in names
    )


def _reply_times(campaign: Campaign) -> defaultdict[str, list[float]]:
    """Return the seconds from a message to its answer, of the latest replies by bot."""
    jobs = ReplyJob.objects.filter(conversation__campaign=campaign, answered_at__isnull=False)
    times: defaultdict[str, list[float]] = defaultdict(list)
    latest = _study(jobs).order_by("-id").values_list("bot", "queued_at", "answered_at")[:RECENT]
    for bot, queued_at, answered_at in latest:
        if answered_at is not None:
            times[bot].append(max(0.0, (answered_at - queued_at).total_seconds()))
    return times


def _study(jobs: QuerySet[ReplyJob]) -> QuerySet[ReplyJob]:
    return jobs.exclude(conversation__purpose=Conversation.Purpose.REHEARSAL)


def _age(since: datetime | None, now: datetime) -> float | None:
    return None if since is None else max(0.0, (now - since).total_seconds())


def quantile(values: Sequence[float], share: float) -> float | None:
    """Return the smallest value that at least this share of the values does not exceed."""
    if not values:
        return None
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]


def given_up(campaign: Campaign) -> int:
    """Count the replies that were given up."""
    jobs = ReplyJob.objects.filter(conversation__campaign=campaign, state=J.FAILED)
    return _study(jobs).count()
