"""Every system answers a test message through the real path before its campaign opens (R14).

A rehearsal, and a requester's test chat, is a conversation of its own purpose: no part of the data.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models.functions import Now

from webapp.models import Conversation, Event, Persona, ReplyJob, Seat, System
from webapp.services.replies import queue
from webapp.services.rules import events
from webapp.services.rules.protocols import protocol_of

GREETING = "Hello! How are you today, and what do you like to do?"
S = System.Rehearsal


def start(*, system: System, by: str, now: datetime) -> Conversation:
    """Send a system its test message; what comes of it is found in the system's row."""
    with transaction.atomic():
        conversation = _open(system, now)
        _send(conversation, GREETING, by)
        note = f"asked by {by}"
        System.objects.filter(pk=system.pk).update(rehearsal=S.QUEUED, rehearsal_note=note)
    system.refresh_from_db()
    return conversation


def passed(system: System, text: str, details: Mapping[str, Any]) -> None:
    """Note that a system answered, and which version of its bot did."""
    version = {key: details.get(key, "") for key in ("model", "parameters")}
    note = f"answered in {details.get('seconds', 0)} s: {text}"[:1000]
    _note(system, S.PASSED, note, version)


def failed(system: System, error: str) -> None:
    """Note that a system did not answer, and why."""
    _note(system, S.FAILED, error[:1000], {})


def _note(system: System, state: str, note: str, version: dict[str, str]) -> None:
    rows = System.objects.filter(pk=system.pk, rehearsal=S.QUEUED)  # a test chat changes nothing
    rows.update(rehearsal=state, rehearsal_note=note, version=version, rehearsed_at=Now())


def test_chat(*, system: System, by: str, now: datetime) -> Conversation:
    """Open a conversation in which staff try a system; a bot that speaks first does not here."""
    with transaction.atomic():
        return _open(system, now)


def send_message(*, conversation: Conversation, text: str, by: str) -> Event:
    """Send a message to a system as staff."""
    with transaction.atomic():
        return _send(events.lock(conversation.pk), text, by)


def read(conversation: Conversation) -> list[tuple[str, str]]:
    """Return the messages: "you" or "system", and the text."""
    return [
        ("system" if event.side == 1 else "you", event.content["text"])
        for event in events.messages(conversation)
    ]


def answering(conversation: Conversation) -> bool:
    """Tell whether the system still owes a reply."""
    owed = (ReplyJob.State.QUEUED, ReplyJob.State.CLAIMED, ReplyJob.State.ANSWERED)
    return conversation.jobs.filter(state__in=owed).exists()


def _open(system: System, now: datetime) -> Conversation:
    conversation = Conversation.objects.create(
        campaign=system.campaign,
        system=system,
        purpose=Conversation.Purpose.REHEARSAL,
        seed=secrets.randbits(48),
        started_at=now,
    )
    persona = Persona.objects.filter(campaign=system.campaign).order_by("order").first()
    chat = protocol_of(system.campaign).chat
    Seat.objects.create(conversation=conversation, side=0, active=False)
    Seat.objects.create(
        conversation=conversation,
        side=1,
        persona=persona,
        persona_form=chat.partner_form if chat else "original",
        sees_persona=system.sees_persona,
        active=False,
    )
    return conversation


def _send(conversation: Conversation, text: str, by: str) -> Event:
    event = events.append(
        conversation=conversation,
        kind=Event.Kind.MESSAGE,
        content={"text": text, "by": by},
        side=0,
    )
    queue.queue(conversation=conversation, in_reply_to=event.seq)
    return event
