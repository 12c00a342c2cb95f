"""Metrics for Prometheus: queues, reply times, batches and memory of each bot.

All of it comes from rows, so every web process tells the same, and nothing is lost when one ends.
Reply times are of the latest replies; for rates take what `parley_replies` grows by.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime

from django.db.models import Count
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from webapp.models import Heartbeat, ReplyJob
from webapp.services.replies import heartbeats, load

GAUGES = {
    "waiting": ("parley_replies_waiting", "Replies that are owed"),
    "oldest": ("parley_replies_oldest_seconds", "How long the oldest of them is owed"),
    "thinking": ("parley_batch_seconds", "Seconds that half of the latest batches took at most"),
    "batch": ("parley_batch_jobs", "Jobs of the latest batches, on average"),
    "workers": ("parley_reply_workers", "Reply workers that are ready for the bot"),
    "warming": ("parley_reply_workers_loading", "Reply workers that are loading the bot"),
    "losses": ("parley_bot_losses", "Processes of the bot that were lost, by workers alive now"),
}


class _Rows(Collector):
    """Asks the database when it is asked."""

    def __init__(self, now: datetime) -> None:
        self._now = now

    def collect(self) -> Iterable[Metric]:
        states = load.look_everywhere(self._now)
        for field, (name, about) in GAUGES.items():
            gauge = GaugeMetricFamily(name, about, labels=["bot"])
            for state in states:
                value = getattr(state, field)
                if value is not None:
                    gauge.add_metric([state.bot], float(value))
            yield gauge
        yield _times(states)
        yield _counts()
        yield _memory(heartbeats.alive(self._now))


def _times(states: Iterable[load.BotState]) -> Metric:
    name, about = "parley_reply_seconds", "Seconds from a message to its answer, latest replies"
    gauge = GaugeMetricFamily(name, about, labels=["bot", "quantile"])
    for state in states:
        for quantile, value in (("0.5", state.p50), ("0.95", state.p95)):
            if value is not None:
                gauge.add_metric([state.bot, quantile], value)
    return gauge


def _counts() -> Metric:
    gauge = GaugeMetricFamily(
        "parley_replies", "Replies owed so far, by what became of them", labels=["bot", "state"]
    )
    rows = ReplyJob.objects.values_list("bot", "state").annotate(Count("pk"))
    for bot, state, count in rows.order_by("bot", "state"):
        gauge.add_metric([bot, state.lower()], count)
    return gauge


def _memory(workers: Iterable[Heartbeat]) -> Metric:
    name, about = "parley_bot_memory_bytes", "Memory that a worker holds for a bot"
    gauge = GaugeMetricFamily(name, about, labels=["bot", "worker", "where"])
    for bot, worker, where, megabytes in _held(workers):
        gauge.add_metric([bot, worker, where], megabytes * 1024 * 1024)
    return gauge


def _held(workers: Iterable[Heartbeat]) -> Iterator[tuple[str, str, str, float]]:
    for worker in workers:
        for bot, sizes in heartbeats.state_of(worker).memory.items():
            for where, megabytes in zip(("machine", "device"), sizes, strict=True):
                yield bot, worker.name, where, megabytes


def text(now: datetime) -> bytes:
    """Return everything in the text format of Prometheus."""
    registry = CollectorRegistry()
    registry.register(_Rows(now))
    return generate_latest(registry)
