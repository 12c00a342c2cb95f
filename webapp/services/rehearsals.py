"""Staff try a system: rehearsed once, or talked to; both go the path of every reply."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.conf import settings
from django.utils.translation import gettext as _

from webapp.models import Campaign, Conversation, System
from webapp.services import access, audit, rehearsal
from webapp.services.fields import BadField, Invalid
from webapp.services.fields import text as text_field


@dataclass(frozen=True)
class TestChat:
    """A test chat as its page shows it."""

    pk: int
    system: System
    lines: tuple[tuple[str, str], ...]  # you or system, and the text
    answering: bool
    failed: str


def rehearse(*, system: System, by: Any, now: datetime) -> None:
    """Send a bot its test message; while one is under way, another is not sent."""
    if system.is_people or system.rehearsal == System.Rehearsal.QUEUED:
        return
    actor = by.get_username()
    rehearsal.start(system=system, by=actor, now=now)
    audit.append(
        actor=actor,
        action="system rehearsed",
        campaign=system.campaign,
        now=now,
        system=system.name,
    )


def open_chat(*, system: System, by: Any, now: datetime) -> Conversation:
    """Open a test chat with a bot."""
    if system.is_people:
        raise access.NotFound(f"system {system.pk} is people: there is no bot to talk to")
    return rehearsal.test_chat(system=system, by=by.get_username(), now=now)


def look(*, user: access.User, campaign: Campaign, pk: int) -> TestChat:
    """Return what was said in a test chat."""
    conversation = _chat(user, campaign, pk)
    failed = conversation.jobs.filter(state="FAILED").order_by("-id").first()
    return TestChat(
        pk=conversation.pk,
        system=conversation.system,
        lines=tuple(rehearsal.read(conversation)),
        answering=rehearsal.answering(conversation),
        failed=failed.error if failed else "",
    )


def say(*, user: Any, campaign: Campaign, pk: int, text: str) -> None:
    """Say something to the system, one message at a time."""
    conversation = _chat(user, campaign, pk)
    try:
        said = text_field(most=settings.MAX_MESSAGE_CHARACTERS)(text)
    except BadField as problem:
        raise Invalid({"text": str(problem)}) from None
    if rehearsal.answering(conversation):
        raise Invalid({"text": _("has to wait: the system still answers")})
    rehearsal.say(conversation=conversation, text=said, by=user.get_username())


def _chat(user: access.User, campaign: Campaign, pk: int) -> Conversation:
    conversation = access.conversation(user, campaign.pk, pk)
    if conversation.purpose != Conversation.Purpose.REHEARSAL:
        raise access.NotFound(f"conversation {pk} is no test chat")
    return conversation
