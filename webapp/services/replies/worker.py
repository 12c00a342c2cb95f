"""Answers of a bot to its jobs: claim those waiting, ask the bot, settle what came of it.

`ask` reads and writes no rows, so that it can run anywhere: in this process, in a child or in an
event loop (`webapp.inference`). Jobs of systems with different options need different bots, so a
batch is one per set of options. Long because the three steps share what they hand on.
"""

from __future__ import annotations

import json
import logging
import re
import time
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, cast

from django.conf import settings
from django.db import InterfaceError, OperationalError, transaction
from django.db.models import F

from bots import (
    Background,
    InvalidOption,
    Reply,
    SeededHistory,
    Turn,
    Utterance,
    bot_names,
    bot_options,
    seed_of,
)
from bots.guards.filters import EMPTY
from bots.registry import PATHS
from webapp.inference import Answers, Respond, RespondGrowing, WorkerLost, respond_beside
from webapp.models import Campaign, Conversation, Event, ReplyCall, ReplyJob, Seat, System
from webapp.services.replies import allowances, calls, delivery, model_keys, partials, queue, texts
from webapp.services.replies.background import background
from webapp.services.replies.batches import Limit
from webapp.services.rules.protocols import protocol_of

log = logging.getLogger(__name__)
Purpose = Conversation.Purpose
Outcome = ReplyCall.Outcome
INSIDE = {"bot": "options", "backward": "backward_options"}  # a wrapped bot, and its options
MOST_WANTED = 200  # systems that are looked at for what to load
NUL = re.compile(r"(?<!\\)((?:\\\\)*)\\u0000")  # as JSON writes it
LONGEST_DETAILS = 20_000  # characters


@dataclass(frozen=True, eq=False)
class ReplyWork:
    """Claimed jobs that one call of a bot answers, with each job's turn by its number.

    growing: the jobs whose reply is shown as it grows.
    """

    bot: str
    options: Mapping[str, Any]
    jobs: Sequence[ReplyJob]
    turns: Mapping[int, Turn]
    growing: Collection[int] = ()

    def one_by_one(self) -> list[ReplyWork]:
        """Return a call for each job."""
        return [replace(self, jobs=[job]) for job in self.jobs]

    @property
    def inputs(self) -> list[Turn]:
        return [self.turns[job.pk] for job in self.jobs]


@dataclass(eq=False)
class EndedCall:
    """What came of a call: answers or a problem, and the seconds that it took."""

    work: ReplyWork
    answers: Answers | None
    problem: Exception | None
    seconds: float
    is_recorded: bool = False  # it is settled again after trouble of the database


class ClaimedWork(NamedTuple):
    """What is to be asked, and how many jobs were taken for it: some may have no tokens left."""

    works: list[ReplyWork]
    jobs: int


def claim(*, bot: str, owner: str, most: int | None = None) -> list[ReplyWork]:
    """Claim what `bot` owes now: a batch for each set of options."""
    return claim_of(None, bot=bot, owner=owner, most=most or queue.BATCH).works


def claim_of(systems: Collection[int] | None, *, bot: str, owner: str, most: int) -> ClaimedWork:
    """Claim what these systems of a bot owe now; `systems` None means all."""
    if calls_servers(bot):
        model_keys.enter()  # what was entered or removed a moment ago
    jobs = queue.claim(bot=bot, owner=owner, most=most, systems=systems)
    turns = _turns(jobs) if jobs else {}
    ready = [job for job in jobs if _may_call(job, turns[job.pk])]
    return ClaimedWork([_work(bot, group, turns) for group in _by_options(ready)], len(jobs))


def _work(bot: str, jobs: Sequence[ReplyJob], turns: Mapping[int, Turn]) -> ReplyWork:
    options = options_of(jobs[0].conversation.system)
    growing = {job.pk for job in jobs if partials.are_shown(job.conversation, options)}
    return ReplyWork(bot, options, jobs, turns, growing)


def _may_call(job: ReplyJob, turn: Turn) -> bool:
    """Reserve the tokens of a call; without them the job waits for others', or is over."""
    if not allowances.is_counted(job):
        return True
    try:
        allowances.reserve(job, turn, options_of(job.conversation.system))
    except allowances.NothingLeft as refusal:
        if refusal.waits:
            queue.put_back(job, str(refusal), attempt=F("attempt") - 1)
        else:
            delivery.end_without_allowance(job, str(refusal), campaign=refusal.is_of_campaign)
        return False
    except InvalidOption:  # the call will say what is wrong
        return True
    return True


def calls_servers(bot: str) -> bool:
    """Tell whether a bot calls a server by its address."""
    return any(each.name == "url" for each in bot_options(bot))


def ask(work: ReplyWork, respond: Respond) -> EndedCall:
    """Run the bot. Reads and writes no rows."""
    started = time.monotonic()
    try:
        answers = _complete(work, respond(work.bot, work.options, work.inputs))
    except Exception as problem:  # a bot may fail in any way; `settle` decides
        return EndedCall(work, None, problem, time.monotonic() - started)
    return EndedCall(work, answers, None, time.monotonic() - started)


def ask_growing(work: ReplyWork, respond: RespondGrowing) -> EndedCall:
    """Run the bot, and show as they grow the replies that are to be shown so."""
    shown = _partials(work)
    showing = {index: partial.show for index, partial in shown.items()}

    def growing(bot: str, options: Mapping[str, Any], turns: Sequence[Turn]) -> Answers:
        return respond(bot, options, turns, showing)

    return _end_partials(ask(work, growing), shown)


async def ask_beside(work: ReplyWork) -> EndedCall:
    """Run a bot whose way is `async` over one job, in this event loop."""
    started, shown = time.monotonic(), _partials(work)
    try:
        show = shown[0].show if shown else None
        answers = await respond_beside(work.bot, work.options, work.inputs[0], show)
    except Exception as problem:
        ended_call = EndedCall(work, None, problem, time.monotonic() - started)
    else:
        ended_call = EndedCall(work, answers, None, time.monotonic() - started)
    return _end_partials(ended_call, shown)


def _partials(work: ReplyWork) -> dict[int, partials.PartialReply]:
    """Return what shows the replies that grow, by the place of their jobs."""
    jobs = enumerate(work.jobs)
    return {index: partials.PartialReply(job) for index, job in jobs if job.pk in work.growing}


def _end_partials(ended_call: EndedCall, shown: Mapping[int, partials.PartialReply]) -> EndedCall:
    answers = ended_call.answers
    for index, partial in shown.items():
        partial.end(is_whole=answers is not None and bool(answers.replies[index].text.strip()))
    return ended_call


def _complete(work: ReplyWork, answers: Answers) -> Answers:
    if len(answers.replies) != len(work.jobs):
        raise ValueError(f"{len(answers.replies)} replies to {len(work.jobs)} turns")
    return answers


def settle(ended_call: EndedCall, limit: Limit) -> list[ReplyWork]:
    """Store what came of a call; returns what is to be asked for anew.

    A batch that failed is tried job by job, so that one cannot harm the others. A bot whose process
    was lost has its jobs put back before its `WorkerLost` goes on to the caller. Trouble of the
    database goes on, too: the call may be settled again.
    """
    work, problem = ended_call.work, ended_call.problem
    if isinstance(problem, WorkerLost):
        _put_back(work.jobs, problem)
        limit.lost(len(work.jobs), of_device=problem.of_device)
        raise problem
    try:
        if problem is not None:
            raise problem
        settle_together([ended_call])
        limit.answered()
    except (OperationalError, InterfaceError):
        raise
    except Exception as failure:  # a bot may fail in any way; its jobs must not be lost
        return _failed(ended_call, failure)
    return []


def _failed(ended_call: EndedCall, problem: Exception) -> list[ReplyWork]:
    work = ended_call.work
    log.warning("%s failed on %d jobs", work.bot, len(work.jobs), exc_info=problem)
    if len(work.jobs) > 1:
        return work.one_by_one()
    (job,) = work.jobs
    error = texts.storable(f"{type(problem).__name__}: {problem}")[:500]
    seconds = round(ended_call.seconds, 4)
    seed = _seed(work.turns[job.pk])
    calls.record([calls.BotCall(job, Outcome.FAILED, seed, error=error, seconds=seconds)])
    delivery.failed(job, error)
    return []


def put_back(work: ReplyWork, reason: str) -> None:
    """Give jobs back whose call nobody waits for any more; nobody is to blame."""
    for job in work.jobs:
        delivery.lost(job, reason, to_blame=False)


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


def settle_together(ended: Sequence[EndedCall]) -> None:
    """Store what came of calls that went well: what ended together shares its transactions.

    Calls and answers are one transaction where they are few. Should it break, calls are kept
    whatever becomes of their answers.
    """
    made = {id(ended_call): _calls(ended_call) for ended_call in ended}
    fresh = [ended_call for ended_call in ended if not ended_call.is_recorded]
    if sum(map(len, made.values())) > delivery.CHUNK or len(fresh) < len(ended):
        _record(fresh, made)
        _answer(ended, made)
        return
    held = {job: (job.held_tokens, job.held_cost) for each in ended for job in each.work.jobs}
    try:
        with transaction.atomic():
            locked = _record(fresh, made)
            all_shown = {call.outcome for each in made.values() for call in each} == {Outcome.SHOWN}
            _answer(ended, made, locked if all_shown else {})  # a refusal appends to a log itself
    except Exception as problem:
        for ended_call in fresh:
            ended_call.is_recorded = False
        for job, (tokens, cost) in held.items():
            job.held_tokens, job.held_cost = tokens, cost
        if isinstance(problem, OperationalError | InterfaceError):
            raise
        log.exception("calls and their answers are stored one after the other")
        _record(fresh, made)
        _answer(ended, made)


def _record(
    fresh: Sequence[EndedCall], made: Mapping[int, Sequence[calls.BotCall]]
) -> dict[int, Conversation]:
    locked: dict[int, Conversation] = {}
    if fresh:
        locked = calls.record([call for ended_call in fresh for call in made[id(ended_call)]])
    for ended_call in fresh:
        ended_call.is_recorded = True
    return locked


def _answer(
    ended: Sequence[EndedCall],
    made: Mapping[int, Sequence[calls.BotCall]],
    locked: Mapping[int, Conversation] | None = None,
) -> None:
    answers = [answer for one in ended for answer in _answers(one, made[id(one)])]
    if delivery.answer(answers, locked or {}) < len(answers):
        calls.mark_late([each.job for each in answers])


def _calls(ended_call: EndedCall) -> list[calls.BotCall]:
    answers, jobs = cast(Answers, ended_call.answers), ended_call.work.jobs
    seconds, parameters = round(ended_call.seconds, 4), _parameters(jobs[0].conversation.system)
    return [
        _call(job, reply, seconds, parameters, _seed(ended_call.work.turns[job.pk]))
        for job, reply in zip(jobs, answers.replies, strict=True)
    ]


def _answers(ended_call: EndedCall, made: Sequence[calls.BotCall]) -> list[delivery.BotAnswer]:
    """Return the answers that are to be shown; the jobs of the others are put back."""
    version = cast(Answers, ended_call.answers).version
    about = {**version, "seconds": round(ended_call.seconds, 4), "batch": len(made)}
    stored: list[delivery.BotAnswer] = []
    for call in made:
        job, text = call.job, texts.shown(call.reply.text)
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
    text = texts.storable(reply.text)
    more = [
        *(["unprintable"] if text != reply.text else []),
        *(["long"] if len(text) > settings.MAX_MESSAGE_CHARACTERS else []),
    ]
    outcome, error = Outcome.SHOWN, ""
    if not text.strip():
        if not reply.text.strip() and "error" not in reply.details and "empty" not in reply.events:
            more.append("empty")
        outcome, error = Outcome.FAILED, str(reply.details.get("error", EMPTY))
    elif complaint := _complaint(job, texts.shown(reply.text)):
        outcome, error = Outcome.REFUSED, complaint
    error = texts.storable(error)[:500]
    return calls.BotCall(job, outcome, seed, reply, error, seconds, parameters, more)


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


def _details(reply: Reply) -> dict[str, Any]:
    """Return the details as plain JSON that a database can hold."""
    try:
        raw = json.dumps(dict(reply.details), default=str, allow_nan=False, ensure_ascii=False)
    except (ValueError, RecursionError):
        return {"left out": "the details are no JSON"}
    if len(raw) > LONGEST_DETAILS:
        return {"left out": "the details are too long"}
    found: dict[str, Any] = json.loads(texts.storable(NUL.sub(r"\1", raw)))
    return found


def _turns(jobs: Sequence[ReplyJob]) -> dict[int, Turn]:
    """Return each job's persona and history, as its bot sees them, with three queries."""
    conversations = [job.conversation_id for job in jobs]
    seats: dict[int, list[Seat]] = defaultdict(list)
    rows = Seat.objects.filter(conversation__in=conversations).select_related("persona")
    for seat in rows.order_by("side"):
        seats[seat.conversation_id].append(seat)
    histories: dict[int, list[tuple[int, Utterance]]] = defaultdict(list)
    messages = Event.objects.filter(conversation__in=conversations, kind=Event.Kind.MESSAGE)
    columns = messages.values_list("conversation_id", "seq", "side", "content")
    for conversation, seq, side, content in columns.order_by("conversation_id", "seq"):
        turn = Utterance("self" if side == 1 else "partner", content["text"])
        histories[conversation].append((seq, turn))
    numbers = calls.numbers(jobs)
    return {
        job.pk: (
            _persona(seats[job.conversation_id]),
            SeededHistory(
                (turn for seq, turn in histories[job.conversation_id] if seq <= job.in_reply_to),
                calls.seed_for(job, numbers[job.pk]),
                _background(job, seats[job.conversation_id]),
            ),
        )
        for job in jobs
    }


def _persona(seats: Sequence[Seat]) -> tuple[str, ...]:
    return next((one.sentences for one in seats if one.side == 1 and one.sees_persona), ())


def _background(job: ReplyJob, seats: Sequence[Seat]) -> Background:
    conversation = job.conversation
    chat = protocol_of(conversation.campaign).chat
    own = next((one.persona for one in seats if one.side == 1 and one.sees_persona), None)
    partners = [one.persona for one in seats if one.side == 0 and one.persona is not None]
    return background(chat.brief if chat else None, own, partners, conversation.topic)
