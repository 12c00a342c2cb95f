"""A process that commits entries as fast as it can, for backups to be taken meanwhile.

    python -m tests.webapp.sockets.writing

It writes until its input ends, and prints each commit: seq, time.
"""

from __future__ import annotations

import os
import select
import sys
import time
from collections.abc import Callable

FILLER, LETTERS = 1_000, 10_000  # 10 MB, so that a backup takes a while


def write(wants_more: Callable[[], bool], note: Callable[[int, float], object]) -> None:
    """Write 10 MB, then one entry after another for as long as is wanted, each noted."""
    from django.utils import timezone

    from tests.factories import make_campaign, make_staff
    from webapp.models import Conversation, Event
    from webapp.services.rules import events

    campaign = make_campaign(personas=0, owner=make_staff(f"writer{os.getpid()}"))
    system = campaign.systems.get()
    full, grown = (
        Conversation.objects.create(
            campaign=campaign, system=system, seed=1, started_at=timezone.now()
        )
        for _ in range(2)
    )
    Event.objects.bulk_create(
        Event(conversation=full, seq=seq, kind="message", content={"text": "x" * LETTERS})
        for seq in range(1, FILLER + 1)
    )
    Conversation.objects.filter(pk=full.pk).update(last_seq=FILLER)
    while wants_more():
        event = events.append(
            conversation=grown, kind="message", content={"text": "y" * 100}, side=0
        )
        note(event.seq, time.time())


if __name__ == "__main__":
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webapp.settings")
    django.setup()
    write(
        lambda: not select.select([sys.stdin], [], [], 0)[0],
        lambda seq, at: print(seq, at, flush=True),
    )
