"""Answer what a bot owes: claim all waiting jobs, one batch through the bot, store the answers.

`respond` is where the bot runs: in this process or in a child (`webapp.inference`). Jobs of systems
with different options need different bots, so a batch is one per set of options.
"""

from __future__ import annotations

import json
import logging
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from django.conf import settings

from bots import Reply, Turn, Utterance, bot_options
from webapp.inference import Answers, Respond, WorkerLost
from webapp.models import Event, ReplyJob, Seat
from webapp.services import delivery, replies

log = logging.getLogger(__name__)


def serve(*, bot: str, owner: str, respond: Respond) -> int:
    """Claim and answer what `bot` owes now; returns how many jobs were claimed.

    A bot whose process was lost has its jobs put back before `WorkerLost` goes on to the caller.
    """
    jobs = replies.claim(bot=bot, owner=owner)
    if not jobs:
        return 0
    turns = _turns(jobs)
    with replies.renewing(jobs[0].owner):
        for group in _by_options(jobs):
            _answer(group, turns, respond)
    return len(jobs)


def options_of(job: ReplyJob) -> dict[str, Any]:
    """Return the options of the job's system, with the weights' place and the device filled in."""
    system = job.conversation.system
    options = dict(system.options)
    if options.get("weights"):
        options["weights"] = str(Path(settings.WEIGHTS_DIR) / options["weights"])
    if any(option.name == "device" for option in bot_options(system.bot)):
        options.setdefault("device", settings.DEVICE)
    return options


def _by_options(jobs: Sequence[ReplyJob]) -> list[list[ReplyJob]]:
    groups: dict[str, list[ReplyJob]] = defaultdict(list)
    for job in jobs:
        groups[json.dumps(options_of(job), sort_keys=True)].append(job)
    return list(groups.values())


def _answer(jobs: Sequence[ReplyJob], turns: Mapping[int, Turn], respond: Respond) -> None:
    """Answer a batch; one that fails is tried job by job, so that one cannot harm the others."""
    try:
        delivery.answer(_ask(jobs, turns, respond))
    except WorkerLost as lost:
        for job in jobs:
            delivery.failed(job, str(lost))
        raise
    except Exception as problem:  # a bot may fail in any way; its jobs must not be lost
        log.warning("%s failed on %d jobs", jobs[0].bot, len(jobs), exc_info=problem)
        if len(jobs) == 1:
            delivery.failed(jobs[0], f"{type(problem).__name__}: {problem}"[:500])
            return
        for job in jobs:
            _answer([job], turns, respond)


def _ask(
    jobs: Sequence[ReplyJob], turns: Mapping[int, Turn], respond: Respond
) -> list[delivery.Answer]:
    options = options_of(jobs[0])
    started = time.monotonic()
    answers: Answers = respond(jobs[0].bot, options, [turns[job.pk] for job in jobs])
    seconds = time.monotonic() - started
    if len(answers.replies) != len(jobs):
        raise ValueError(f"{len(answers.replies)} replies to {len(jobs)} turns")
    about = {
        **answers.version,
        "seed": options.get("seed"),
        "seconds": round(seconds, 4),
        "batch": len(jobs),
    }
    return [
        delivery.Answer(job, _storable(reply), about | {"bot": dict(reply.details)})
        for job, reply in zip(jobs, answers.replies, strict=True)
    ]


def _storable(reply: Reply) -> str:
    """Return the text without what no database or page can hold; an empty one is a failure."""
    text = reply.text.encode("utf-8", "ignore").decode().replace("\0", "").strip()
    if not text:
        raise ValueError("the bot said nothing")
    return text[: settings.MAX_MESSAGE_CHARACTERS]


def _turns(jobs: Sequence[ReplyJob]) -> dict[int, Turn]:
    """Return each job's persona and history, as its bot sees them, with two queries."""
    conversations = [job.conversation_id for job in jobs]
    seats = Seat.objects.filter(conversation__in=conversations, side=1).select_related("persona")
    personas = {
        seat.conversation_id: tuple(seat.persona.sentences)
        for seat in seats
        if seat.persona is not None and seat.sees_persona
    }
    said: dict[int, list[Event]] = defaultdict(list)
    messages = Event.objects.filter(conversation__in=conversations, kind=Event.Kind.MESSAGE)
    for event in messages.order_by("conversation_id", "seq"):
        said[event.conversation_id].append(event)
    return {
        job.pk: (
            personas.get(job.conversation_id, ()),
            _history(said[job.conversation_id], job.in_reply_to),
        )
        for job in jobs
    }


def _history(events: Sequence[Event], until: int) -> tuple[Utterance, ...]:
    return tuple(
        Utterance("self" if event.side == 1 else "partner", event.content["text"])
        for event in events
        if event.seq <= until
    )
