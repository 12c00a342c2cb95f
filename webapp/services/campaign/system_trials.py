"""Trials of a system by staff: a rehearsal, or a test chat; both go the path of every reply."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.conf import settings
from django.utils.translation import gettext as _

from webapp.models import Conversation, System
from webapp.services.campaign import systems
from webapp.services.replies import rehearsal
from webapp.services.rules import access, audit
from webapp.services.rules.access import AnyCampaign
from webapp.services.staff_forms.fields import BadField, Invalid
from webapp.services.staff_forms.fields import text as text_field


@dataclass(frozen=True)
class TestChat:
    """A test chat as its page shows it."""

    pk: int
    system: str
    lines: tuple[tuple[str, str], ...]  # you or system, and the text
    answering: bool
    failed: str


def rehearse(*, campaign: AnyCampaign, pk: int, by: Any, now: datetime) -> None:
    """Send a bot its test message; while one is under way, another is not sent."""
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
