"""Replies given in this thread, one call after another, as a reply worker gives them in several."""

from __future__ import annotations

from collections import deque

from webapp.inference import Respond
from webapp.services.replies import worker
from webapp.services.replies.batches import Limit


def serve(*, bot: str, owner: str, respond: Respond, limit: Limit | None = None) -> int:
    """Claim and answer what a bot owes now; returns how many jobs were claimed."""
    limit = limit or Limit()
    works = deque(worker.claim(bot=bot, owner=owner, most=limit.now))
    count = sum(len(work.jobs) for work in works)
    lost: Exception | None = None
    while works:
        try:
            works.extend(worker.settle(worker.ask(works.popleft(), respond), limit))
        except Exception as problem:
            lost = problem
    if lost is not None:
        raise lost
    return count
