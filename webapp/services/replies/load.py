"""The bots of a campaign: what they owe, how fast they answer, and who works for them."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Min, QuerySet

from webapp.models import Campaign, Conversation, Heartbeat, ReplyJob, System
from webapp.services.replies import heartbeats, queue

J = ReplyJob.State
RECENT = 500  # replies that the reply times are taken from


@dataclass(frozen=True)
class BotState:
    """A bot's queue, its reply times in seconds, and who works for it.

    thinking: seconds that half of its batches took at most; batch: jobs of one, on average;
    memory: megabytes that workers hold for it, on machines and on GPUs together.
    """

    bot: str
    waiting: int
    oldest: float | None
    p50: float | None
    p95: float | None
    replies: int
    workers: int
    thinking: float | None = None
    batch: float | None = None
    memory: float | None = None
    warming: int = 0
    losses: int = 0


@dataclass(frozen=True)
class Answered:
    """Seconds from a message to its answer, seconds that the bot took, jobs of its batch."""

    seconds_waiting: float
    thought: float | None
    batch: int | None


Queues = Mapping[str, tuple[int, datetime | None]]


def look(campaign: Campaign, systems: Sequence[System], now: datetime) -> tuple[BotState, ...]:
    """Return the state of each bot, in four queries."""
    jobs = ReplyJob.objects.filter(conversation__campaign=campaign)
    queues = {
        bot: (count, oldest)
        for bot, count, oldest in jobs.filter(queue.IS_OWED)
        .values_list("bot")
        .annotate(Count("pk"), Min("queued_at"))
        .order_by()
    }
    jobs = ReplyJob.objects.filter(conversation__campaign=campaign)
    names = {system.bot for system in systems if system.is_bot}
    return states(_study(jobs), queues, names, now)


def look_everywhere(now: datetime) -> tuple[BotState, ...]:
    """Return the state of each bot that ever owed a reply, whatever the campaign."""
    jobs = ReplyJob.objects.all()
    owed = jobs.filter(queue.IS_OWED).values_list("bot").annotate(Count("pk"), Min("queued_at"))
    queues = {bot: (count, oldest) for bot, count, oldest in owed.order_by()}
    names = set(jobs.order_by("bot").values_list("bot", flat=True).distinct())
    return states(_study(jobs), queues, names, now)


def states(
    jobs: QuerySet[ReplyJob], queues: Queues, names: Collection[str], now: datetime
) -> tuple[BotState, ...]:
    """Return the state of each bot, from its queue, its latest replies and its workers."""
    recent, workers = _recent(jobs), heartbeats.alive(now)
    return tuple(_state(name, queues, recent[name], workers, now) for name in sorted(names))


def _state(
    name: str,
    queues: Queues,
    recent: Sequence[Answered],
    workers: Sequence[Heartbeat],
    now: datetime,
) -> BotState:
    waiting, oldest = queues.get(name, (0, None))
    times = [each.seconds_waiting for each in recent]
    reported = [heartbeats.state_of(worker) for worker in workers]
    memory = [sum(state.memory[name]) for state in reported if name in state.memory]
    return BotState(
        bot=name,
        waiting=waiting,
        oldest=_age(oldest, now),
        p50=quantile(times, 0.5),
        p95=quantile(times, 0.95),
        replies=len(times),
        workers=heartbeats.hosting(workers, name),
        thinking=quantile([each.thought for each in recent if each.thought is not None], 0.5),
        batch=_mean_batch(recent),
        memory=sum(memory) if memory else None,
        warming=sum(name in state.warming for state in reported),
        losses=sum(state.losses.get(name, 0) for state in reported),
    )


def _mean_batch(recent: Sequence[Answered]) -> float | None:
    """Return the mean size of a batch: each is counted once and not once for each of its jobs."""
    sizes = [each.batch for each in recent if each.batch]
    return len(sizes) / sum(1 / size for size in sizes) if sizes else None


def _recent(jobs: QuerySet[ReplyJob]) -> defaultdict[str, list[Answered]]:
    """Return the latest replies by bot."""
    found: defaultdict[str, list[Answered]] = defaultdict(list)
    columns = ("bot", "queued_at", "answered_at", "details__seconds", "details__batch")
    answered = jobs.filter(answered_at__isnull=False).order_by("-id")
    for bot, queued_at, answered_at, seconds, batch in answered.values_list(*columns)[:RECENT]:
        if answered_at is not None:
            seconds_waiting = max(0.0, (answered_at - queued_at).total_seconds())
            found[bot].append(Answered(seconds_waiting, seconds, batch))
    return found


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
