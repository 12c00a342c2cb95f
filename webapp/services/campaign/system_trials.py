"""Trials of a system by staff: a rehearsal, or a test chat; both go the path of every reply.

Before a system is saved, `attempt` asks it in this process, and `preview` shows what it would send.
"""

from __future__ import annotations

import json
import secrets
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast

from django.conf import settings
from django.utils.translation import gettext as _

from bots import Reply, SeededHistory, Turn, Utterance, background_of, make_bot
from bots.bot import Prompted
from webapp import inference
from webapp.models import Conversation, System
from webapp.services.campaign import systems
from webapp.services.replies import calls, model_keys, rehearsal, worker
from webapp.services.rules import access, audit
from webapp.services.rules.access import AnyCampaign
from webapp.services.staff_forms.fields import BadField, Invalid
from webapp.services.staff_forms.fields import text as text_field

_attempts = threading.BoundedSemaphore(2)  # in this process; each may load a model


@dataclass(frozen=True)
class TestChat:
    """A test chat as its page shows it."""

    pk: int
    system: str
    lines: tuple[tuple[str, str], ...]  # you or system, and the text
    answering: bool
    failed: str


@dataclass(frozen=True)
class Attempt:
    """A reply to what was typed, beside a form that is not saved; `error` in the bot's own words.

    prompt: as it was sent, as JSON. shown: what people would get of `raw`.
    """

    message: str
    prompt: str = ""
    raw: str = ""
    shown: str = ""
    reasoning: str = ""
    events: tuple[str, ...] = ()
    finish: str = ""
    tokens: str = ""
    seconds: float = 0.0
    error: str = ""


def preview(*, campaign: AnyCampaign, bot: str, values: Mapping[str, Any]) -> list[str]:
    """Return the requests of a rehearsal's turns, as JSON; none where a bot makes none of its own.

    Each is what is stored as the prompt of the reply, but for the seed, which is each reply's own.
    """
    if not systems.calls_a_server(bot):
        return []
    system = _unsaved(campaign, bot, values)
    made = cast(Prompted, make_bot(bot, **worker.options_of(system)))
    requests = (dict(made.request(turn)) for turn in rehearsal.first_turns(system))
    return [_json({name: one[name] for name in one if name != "seed"}) for one in requests]


def attempt(*, campaign: AnyCampaign, bot: str, values: Mapping[str, Any], message: str) -> Attempt:
    """Ask a system that is not saved for its first reply, here and now; nothing is stored.

    A message takes the place of the rehearsal's own; "" leaves that as it is.
    """
    if not _attempts.acquire(blocking=False):
        return Attempt(message, error=_("Two others are being tried. Try again in a moment."))
    started = time.monotonic()
    try:
        system = _unsaved(campaign, bot, values)
        turn = _with_message(rehearsal.first_turns(system)[0], message)
        model_keys.enter()
        reply = _reply(bot, worker.options_of(system), turn)
    except Exception as problem:  # a bot may fail in any way; staff are told how
        return Attempt(message, error=f"{type(problem).__name__}: {problem}"[:1000])
    finally:
        _attempts.release()
    return _attempt_of(reply, message, round(time.monotonic() - started, 2))


def _with_message(turn: Turn, message: str) -> Turn:
    lines, history = turn
    if not message:
        return turn
    before = history[:-1] if history and history[-1].speaker == "partner" else history
    history_now = [*before, Utterance("partner", message)]
    return lines, SeededHistory(history_now, secrets.randbelow(2**31), background_of(history))


def _unsaved(campaign: AnyCampaign, bot: str, values: Mapping[str, Any]) -> System:
    options, sees_persona = values["options"], values["sees_persona"]
    row = access.row_of(campaign)
    return System(campaign=row, bot=bot, name="trial", options=options, sees_persona=sees_persona)


def _reply(bot: str, options: Mapping[str, Any], turn: Turn) -> Reply:
    """Answer in this process, or in a child of its own where a model or foreign code is run."""
    if settings.INFERENCE != "process" or not inference.needs_own_process(bot):
        return inference.respond_here(bot, options, [turn]).replies[0]
    child = inference.Child(patience=settings.BOT_SECONDS)
    try:
        return child.respond(bot, options, [turn]).replies[0]
    finally:
        child.close()


def _attempt_of(reply: Reply, message: str, seconds: float) -> Attempt:
    usage = reply.details.get("usage")
    counted = usage if isinstance(usage, Mapping) else {}
    known = {"prompt_tokens": _("prompt"), "completion_tokens": _("reply")}
    tokens = (f"{counted[name]} {words}" for name, words in known.items() if name in counted)
    return Attempt(
        message,
        prompt=_json(reply.prompt) if reply.prompt is not None else "",
        raw=reply.text if reply.raw is None else reply.raw,
        shown=reply.text,
        reasoning=reply.reasoning,
        events=tuple(calls.EVENTS[name] for name in reply.events),
        finish=str(reply.details.get("finish_reason", "")),
        tokens=", ".join(tokens),
        seconds=seconds,
        error=str(reply.details.get("error", "")),
    )


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2, default=str)


def rehearse(*, campaign: AnyCampaign, pk: int, by: Any, now: datetime) -> None:
    """Rehearse a bot; while one rehearsal is under way, another is not begun."""
    system = systems.one(campaign, pk)
    if not system.is_bot or system.rehearsal == System.Rehearsal.QUEUED:
        return
    actor = by.get_username()
    rehearsal.start(system=system, by=actor, now=now)
    audit.append(
        actor=actor,
        action="system rehearsed",
        campaign=campaign,
        now=now,
        system=system.name,
    )


def open_chat(*, campaign: AnyCampaign, pk: int, by: Any, now: datetime) -> int:
    """Open a test chat with a bot and return its number."""
    system = systems.one(campaign, pk)
    if not system.is_bot:
        raise access.NotFound(f"system {system.pk} is no bot that could be talked to")
    return rehearsal.test_chat(system=system, by=by.get_username(), now=now).pk


def look(*, user: access.User, campaign: AnyCampaign, pk: int) -> TestChat:
    """Return what was said in a test chat."""
    conversation = _chat(user, campaign, pk)
    failed = conversation.jobs.filter(state="FAILED").order_by("-id").first()
    return TestChat(
        pk=conversation.pk,
        system=conversation.system.name,
        lines=tuple(rehearsal.read(conversation)),
        answering=rehearsal.answering(conversation),
        failed=failed.error if failed else "",
    )


def send_message(*, user: Any, campaign: AnyCampaign, pk: int, text: str) -> None:
    """Send the system a message, one message at a time."""
    conversation = _chat(user, campaign, pk)
    try:
        message = text_field(most=settings.MAX_MESSAGE_CHARACTERS)(text)
    except BadField as problem:
        raise Invalid({"text": str(problem)}) from None
    if rehearsal.answering(conversation):
        raise Invalid({"text": _("cannot be sent yet: the system is still answering")})
    rehearsal.send_message(conversation=conversation, text=message, by=user.get_username())


def _chat(user: access.User, campaign: AnyCampaign, pk: int) -> Conversation:
    conversation = access.conversation(user, campaign.pk, pk)
    if conversation.purpose != Conversation.Purpose.REHEARSAL:
        raise access.NotFound(f"conversation {pk} is no test chat")
    return conversation
