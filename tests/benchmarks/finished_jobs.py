"""Work on a timer beside more and more finished reply jobs, with today's indexes and the old one.

    python -m tests.benchmarks.finished_jobs [--jobs 1000 10000 100000 1000000]

Prints milliseconds, the median of 7 rounds, on an SQLite file (perf.md, reply-job queries).
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

ROUNDS = 7
# The index of bot, state and lease that stood here before migration 0022.
BEFORE = ('CREATE INDEX "before" ON "webapp_replyjob" ("bot", "state", "lease_until")',)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    sizes = [1_000, 10_000, 100_000, 1_000_000]
    parser.add_argument("--jobs", type=int, nargs="+", default=sizes, help="finished jobs")
    chosen = sorted(parser.parse_args().jobs)
    with tempfile.TemporaryDirectory() as folder:
        os.environ.update(DEBUG="1", DATA_DIR=folder, DJANGO_SETTINGS_MODULE="webapp.settings")
        os.environ.pop("DATABASE_URL", None)
        import django

        django.setup()
        measure(chosen, Path(folder))


def measure(sizes: list[int], folder: Path) -> None:
    from tests.databases import migrate

    migrate()
    rows = []
    for size in sizes:
        fill(size)
        rows.append((size, times()))
    use_index_before()
    before = times()
    names = list(before)
    print(f"{'finished jobs':>24} " + " ".join(f"{name:>16}" for name in names))
    for size, found in rows:
        print(f"{size:>24,} " + " ".join(f"{found[name]:>16.2f}" for name in names))
    label = f"{sizes[-1]:,}, index before"
    print(f"{label:>24} " + " ".join(f"{before[name]:>16.2f}" for name in names))


def fill(size: int) -> None:
    """Add finished jobs up to `size`, of one conversation."""
    from tests.factories import make_campaign
    from webapp.models import Conversation, ReplyJob

    now = datetime.now(UTC)
    conversation = Conversation.objects.first()
    if conversation is None:
        campaign = make_campaign()
        conversation = Conversation.objects.create(
            campaign=campaign, system=campaign.systems.get(), seed=1, started_at=now
        )
    for first in range(ReplyJob.objects.count(), size, 10_000):
        ReplyJob.objects.bulk_create(
            ReplyJob(
                conversation=conversation,
                in_reply_to=number,
                bot="parrot",
                state=ReplyJob.State.DONE,
                queued_at=now,
                due_at=now,
            )
            for number in range(first, min(first + 10_000, size))
        )


def times() -> dict[str, float]:
    from webapp.services.ops import sweeper
    from webapp.services.replies import delivery, queue

    work: dict[str, Callable[[], object]] = {
        "waiting_bots": queue.waiting_bots,
        "claim": lambda: queue.claim(bot="parrot", owner="benchmark"),
        "deliver_due": delivery.deliver_due,
        "seconds_to_next": delivery.seconds_to_next,
        "sweep": lambda: sweeper.tick(datetime.now(UTC)),
    }
    return {name: median(each) for name, each in work.items()}


def median(work: Callable[[], object]) -> float:
    """Return milliseconds."""
    taken = []
    for _ in range(ROUNDS):
        begun = time.perf_counter()
        work()
        taken.append(1000 * (time.perf_counter() - begun))
    return statistics.median(taken)


def use_index_before() -> None:
    from django.db import connection

    from webapp.models import ReplyJob

    now = [f'DROP INDEX "{index.name}"' for index in ReplyJob._meta.indexes]
    with connection.cursor() as cursor:
        for statement in (*now, *BEFORE):
            cursor.execute(statement)


if __name__ == "__main__":
    main()
