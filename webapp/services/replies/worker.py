"""Answers of a bot to its jobs: claim those waiting, run one batch, store the answers.

`respond` is where the bot runs: in this process or in a child (`webapp.inference`). Jobs of systems
with different options need different bots, so a batch is one per set of options.
"""

from __future__ import annotations

import json
import logging
import re
import time
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from django.conf import settings

from bots import Reply, SeededHistory, Turn, Utterance, bot_names, bot_options, seed_of
from bots.guards.filters import EMPTY
from bots.registry import PATHS
from webapp.inference import Answers, Respond, WorkerLost
from webapp.models import Campaign, Conversation, Event, ReplyCall, ReplyJob, Seat, System
from webapp.services.replies import calls, delivery, queue
from webapp.services.replies.batches import Limit
from webapp.services.rules.protocols import protocol_of

log = logging.getLogger(__name__)
Purpose = Conversation.Purpose
Outcome = ReplyCall.Outcome
INSIDE = {"bot": "options", "backward": "backward_options"}  # a wrapped bot, and its options
MOST_WANTED = 200  # systems that are looked at for what to load
NUL = re.compile(r"(?<!\\)((?:\\\\)*)\\u0000")  # as JSON writes it
LONGEST_DETAILS = 20_000  # characters


def serve(*, bot: str, owner: str, respond: Respond, limit: Limit | None = None) -> int:
    """Claim and answer what `bot` owes now; returns how many jobs were claimed.

    A bot whose process was lost has its jobs put back before `WorkerLost` goes on to the caller;
    those of the same bot with other options are answered first.
    """
    limit = limit or Limit()
    jobs = queue.claim(bot=bot, owner=owner, most=limit.now)
    if not jobs:
        return 0
    turns = _turns(jobs)
    gone: WorkerLost | None = None
    with queue.renewing(jobs[0].owner):
        for group in _by_options(jobs):
            try:
                _answer(group, turns, respond)
                limit.answered()
            except WorkerLost as lost:
                _put_back(group, lost)
                limit.lost(len(group), of_device=lost.of_device)
                gone = lost
    if gone is not None:
        raise gone
    return len(jobs)


def _put_back(jobs: Sequence[ReplyJob], lost: WorkerLost) -> None:
    """Blame the bot only where its process ended over one job, and the device was well."""
    for job in jobs:
        delivery.lost(job, str(lost), to_blame=len(jobs) == 1 and not lost.of_device)


def wanted(bots: Collection[str] | None) -> list[tuple[str, dict[str, Any]]]:
    """Return the bots, with options, that people may talk to now; `bots` None means all."""
    open_ones = (Campaign.State.OPEN, Campaign.State.PAUSED)
    systems = System.objects.filter(campaign__state__in=open_ones).order_by("-pk")
    if bots is not None:
        systems = systems.filter(bot__in=bots)
    found: dict[str, tuple[str, dict[str, Any]]] = {}
    for system in systems[:MOST_WANTED]:
        if system.is_bot:
            options = options_of(system)
            found[json.dumps([system.bot, options], sort_keys=True)] = (system.bot, options)
    return list(found.values())


def options_of(system: System) -> dict[str, Any]:
    """Return a system's options, with the place of its files and the device filled in."""
    options = dict(system.options)
    for name in PATHS:
        if options.get(name):
            options[name] = str(Path(settings.WEIGHTS_DIR) / options[name])
    return _placed(system.bot, options)


def _placed(bot: str, options: dict[str, Any]) -> dict[str, Any]:
    """Fill in the device, and the folders of the bots that this one wraps, however deep."""
    known = {option.name: option.default for option in bot_options(bot)}
    if "device" in known:
        options.setdefault("device", settings.DEVICE)
    for which, its in INSIDE.items():
        inner, value = options.get(which, known.get(which)), options.get(its)
        if its in known and inner in bot_names():
            placed = dict(value) if isinstance(value, dict) else {}
            for name in PATHS:
                if placed.get(name):  # typed by staff, so the name of a folder and no path
                    placed[name] = str(Path(settings.WEIGHTS_DIR) / Path(placed[name]).name)
            options[its] = _placed(inner, placed)
    return options


def _by_options(jobs: Sequence[ReplyJob]) -> list[list[ReplyJob]]:
    groups: dict[str, list[ReplyJob]] = defaultdict(list)
    for job in jobs:
        options = options_of(job.conversation.system)
        groups[json.dumps(options, sort_keys=True)].append(job)
    return list(groups.values())


def _answer(jobs: Sequence[ReplyJob], turns: Mapping[int, Turn], respond: Respond) -> None:
    """Answer a batch; one that fails is tried job by job, so that one cannot harm the others."""
    try:
        delivery.answer(_ask(jobs, turns, respond))
    except WorkerLost:
        raise
    except Exception as problem:  # a bot may fail in any way; its jobs must not be lost
        log.warning("%s failed on %d jobs", jobs[0].bot, len(jobs), exc_info=problem)
        if len(jobs) == 1:
            error = _storable(f"{type(problem).__name__}: {problem}")[:500]
            calls.record(
                [calls.BotCall(jobs[0], Outcome.FAILED, _seed(turns[jobs[0].pk]), error=error)]
            )
            delivery.failed(jobs[0], error)
            return
        for job in jobs:
            _answer([job], turns, respond)


def _ask(
    jobs: Sequence[ReplyJob], turns: Mapping[int, Turn], respond: Respond
) -> list[delivery.BotAnswer]:
    options = options_of(jobs[0].conversation.system)
    started = time.monotonic()
    answers: Answers = respond(jobs[0].bot, options, [turns[job.pk] for job in jobs])
    seconds = time.monotonic() - started
    if len(answers.replies) != len(jobs):
        raise ValueError(f"{len(answers.replies)} replies to {len(jobs)} turns")
    about = {**answers.version, "seconds": round(seconds, 4), "batch": len(jobs)}
    parameters = _parameters(jobs[0].conversation.system)
    made = [
        _call(job, reply, seconds, parameters, _seed(turns[job.pk]))
        for job, reply in zip(jobs, answers.replies, strict=True)
    ]
    calls.record(made)
    stored: list[delivery.BotAnswer] = []
    for call in made:
        job, text = call.job, _shown(call.reply.text)
        if call.outcome == Outcome.REFUSED:
            delivery.refuse(job, text, call.error)
        elif call.outcome == Outcome.FAILED:
            delivery.failed(job, call.error)
        else:
            details = about | {"seed": call.seed, "bot": _details(call.reply)}
            stored.append(delivery.BotAnswer(job, text, details))
    return stored


def _call(
    job: ReplyJob, reply: Reply, seconds: float, parameters: Mapping[str, Any], seed: int
) -> calls.BotCall:
    """Return what comes of a reply: it is shown, refused by the protocol, or has failed."""
    text = _storable(reply.text)
    more = [
        *(["unprintable"] if text != reply.text else []),
        *(["long"] if len(text) > settings.MAX_MESSAGE_CHARACTERS else []),
    ]
    outcome, error = Outcome.SHOWN, ""
    if not text.strip():
        if not reply.text.strip() and "error" not in reply.details and "empty" not in reply.events:
            more.append("empty")
        outcome, error = Outcome.FAILED, str(reply.details.get("error", EMPTY))
    elif complaint := _complaint(job, _shown(reply.text)):
        outcome, error = Outcome.REFUSED, complaint
    error = _storable(error)[:500]
    return calls.BotCall(job, outcome, seed, reply, error, round(seconds, 4), parameters, more)


def _shown(text: str) -> str:
    """Return a reply's text as people get it."""
    return _storable(text)[: settings.MAX_MESSAGE_CHARACTERS]


def _parameters(system: System) -> dict[str, Any]:
    """Return every option of a system's bot, those left at their defaults included."""
    return {each.name: each.default for each in bot_options(system.bot)} | dict(system.options)


def _seed(turn: Turn) -> int:
    return seed_of(turn[1]) or 0


def _complaint(job: ReplyJob, text: str) -> str | None:
    """Return what the protocol has against a bot's message, or None."""
    conversation = job.conversation
    chat = protocol_of(conversation.campaign).chat
    if chat is None or not chat.partner_checks or conversation.purpose != Purpose.STUDY:
        return None
    seat = Seat.objects.select_related("persona").get(conversation=conversation, side=1)
    return chat.partner_complaint(text, seat.sentences)


def _storable(text: str) -> str:
    """Return the text without what no database or page can hold."""
    return text.encode("utf-8", "ignore").decode().replace("\0", "")


def _details(reply: Reply) -> dict[str, Any]:
    """Return the details as plain JSON that a database can hold."""
    try:
        raw = json.dumps(dict(reply.details), default=str, allow_nan=False, ensure_ascii=False)
    except (ValueError, RecursionError):
        return {"left out": "the details are no JSON"}
    if len(raw) > LONGEST_DETAILS:
        return {"left out": "the details are too long"}
    found: dict[str, Any] = json.loads(_storable(NUL.sub(r"\1", raw)))
    return found


def _turns(jobs: Sequence[ReplyJob]) -> dict[int, Turn]:
    """Return each job's persona and history, as its bot sees them, with three queries."""
    conversations = [job.conversation_id for job in jobs]
    seats = Seat.objects.filter(conversation__in=conversations, side=1).select_related("persona")
    personas = {seat.conversation_id: seat.sentences for seat in seats if seat.sees_persona}
    histories: dict[int, list[tuple[int, Utterance]]] = defaultdict(list)
    messages = Event.objects.filter(conversation__in=conversations, kind=Event.Kind.MESSAGE)
    columns = messages.values_list("conversation_id", "seq", "side", "content")
    for conversation, seq, side, content in columns.order_by("conversation_id", "seq"):
        turn = Utterance("self" if side == 1 else "partner", content["text"])
        histories[conversation].append((seq, turn))
    numbers = calls.numbers(jobs)
    return {
        job.pk: (
            personas.get(job.conversation_id, ()),
            SeededHistory(
                (turn for seq, turn in histories[job.conversation_id] if seq <= job.in_reply_to),
                calls.seed_for(job, numbers[job.pk]),
            ),
        )
        for job in jobs
    }
