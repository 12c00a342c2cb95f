"""Replies per second through the whole job path: 1, 8 and 32 waiting jobs against one by one.

    python -m tests.benchmarks.batching --weights DIR [--bot profile_memory] [--rounds 5]

The path is claim, history, a child process with the bot, fence, delivery, commit; on a fresh SQLite
file. Both ways answer the same number of jobs in turn; medians of the rounds (asked: 32 at once at
least 4 times one by one).
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any
from uuid import uuid4

from tests import live, serving


def _measure(bot: str, weights: Path, rounds: int) -> None:
    from django.utils import timezone

    from webapp import inference
    from webapp.models import Participation
    from webapp.services.conversation import messages
    from webapp.services.replies import queue

    live._seed(bot=bot, options={"weights": str(weights.resolve())}, people=32)
    people = list(Participation.objects.values_list("pk", flat=True))
    child = inference.Child()

    def answer(count: int, batch: int) -> float:
        """Queue jobs and return how long their answers take; `batch` jobs are claimed at once."""
        said = [
            messages.OutgoingMessage(pk, uuid4(), "What do you like to do?")
            for pk in people[:count]
        ]
        messages.send_all(said, now=timezone.now())
        queue.BATCH = batch
        started, done = time.perf_counter(), 0
        while done < count:
            done += serving.serve(bot=bot, owner="benchmark", respond=child.respond)
        return time.perf_counter() - started

    answer(1, 1)  # loads the bot
    print(f"{'waiting':>8} {'one by one':>12} {'as a batch':>12} {'gain':>6}   replies/s")
    for count in (1, 8, 32):
        times: dict[int, list[float]] = {1: [], count: []}
        for _ in range(rounds):
            for batch in dict.fromkeys((1, count)):
                times[batch].append(answer(count, batch))
        alone, together = (count / statistics.median(times[batch]) for batch in (1, count))
        print(f"{count:8} {alone:12.1f} {together:12.1f} {together / alone:5.1f}x", flush=True)
    child.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--weights", type=Path, required=True)
    parser.add_argument("--bot", default="profile_memory")
    parser.add_argument("--rounds", type=int, default=5)
    given: Any = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ.update(DEBUG="1", DATA_DIR=folder, DJANGO_SETTINGS_MODULE="webapp.settings")
        os.environ.pop("DATABASE_URL", None)
        import django

        django.setup()
        _measure(given.bot, given.weights, given.rounds)


if __name__ == "__main__":
    main()
