"""First turns of the protocol, which every system plays before its campaign opens (R14).

It passes where no more of its replies than the campaign allows are empty, cut, filtered, a fixed
line, only punctuation, or the same every time.

A rehearsal, and a requester's test chat, is a conversation of its own purpose: no part of the data.
"""

from __future__ import annotations

import secrets
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models.functions import Now

from bots import SeededHistory, Turn, Utterance
from bots.registry import ORIGIN
from bots.text.tokens import key
from webapp.models import (
    Campaign,
    Context,
    Conversation,
    Event,
    Persona,
    ReplyCall,
    ReplyJob,
    Seat,
    System,
)
from webapp.services.replies import calls, queue
from webapp.services.replies.background import background
from webapp.services.rules import events
from webapp.services.rules.protocols import protocol_of

MESSAGES = (
    "Hello! How are you today, and what do you like to do?",
    "I spent last weekend by the sea with my sister.",  # no question: a bot may answer by kind
    "Why do you like that?",
)
REPLIES = 3  # that a rehearsal asks for; a test chat asks for none, which its `minimum` says
REHEARSAL = "rehearsal"
REPLY = "(its reply)"  # in a turn that is shown before there are replies
S = System.Rehearsal


def start(*, system: System, by: str, now: datetime) -> Conversation:
    """Begin the first turns of the protocol; what comes of them is found in the system's row."""
    with transaction.atomic():
        conversation = _open(system, now, replies=REPLIES)
        note = f"asked by {by}"
        System.objects.filter(pk=system.pk).update(rehearsal=S.QUEUED, rehearsal_note=note)
        _begin(conversation, by)
    system.refresh_from_db()
    return conversation


def first_messages(campaign: Campaign) -> list[tuple[int, str]]:
    """Return what stands before a system's first reply: sides and texts; none where it opens."""
    protocol, context = protocol_of(campaign), _context(campaign)
    if context is not None:
        last = len(context.messages) - 1  # a person's
        return [((last - index) % 2, text) for index, text in enumerate(context.messages)]
    if protocol.chat is None or protocol.chat.first == "participant":
        return [(0, MESSAGES[0])]
    return [(1, protocol.chat.opening), (0, MESSAGES[0])] if protocol.chat.opening else []


def _context(campaign: Campaign) -> Context | None:
    """Return the context that a rehearsal goes on from, where the protocol has no chat."""
    if protocol_of(campaign).chat is not None:
        return None
    return Context.objects.filter(campaign=campaign.pk).exclude(messages=[]).order_by("pk").first()


def _begin(conversation: Conversation, by: str) -> None:
    """Let the bot open where it may, go on from a context where there is one, or greet it."""
    messages, seq = first_messages(conversation.campaign), 0
    if _context(conversation.campaign) is not None:
        for side, text in messages:
            seq = _append(conversation, text, side=side).seq
    else:
        for side, text in messages:
            if side == 0:
                _send(conversation, text, by)
                return
            _append(conversation, text, side=side, in_reply_to=0)
    queue.queue(conversation=conversation, in_reply_to=seq)


def first_turns(system: System) -> list[Turn]:
    """Return the turns of a rehearsal as its bot sees them; a reply to come is `REPLY`.

    Reads rows, writes none: the system need not be stored.
    """
    protocol, campaign = protocol_of(system.campaign), system.campaign
    chat, persona = protocol.chat, _persona(campaign) if system.sees_persona else None
    lines = persona.sentences_in(chat.partner_form if chat else "original") if persona else ()
    known = background(chat.brief if chat else None, persona, (), topic_of(campaign))
    messages = first_messages(campaign)
    turns: list[Turn] = []
    sent = 1 if messages and _context(campaign) is None else 0
    for number in range(REPLIES):
        history = [Utterance("self" if side else "partner", text) for side, text in messages]
        turns.append((lines, SeededHistory(history, 0, known)))
        messages = [*messages, (1, REPLY), (0, MESSAGES[(sent + number) % len(MESSAGES)])]
    return turns


def topic_of(campaign: Campaign) -> str:
    """Return the topic of a rehearsal: the first that a conversation can have."""
    chat, persona = protocol_of(campaign).chat, _persona(campaign)
    topics = chat.brief.topics_for(persona.group if persona else "") if chat and chat.brief else ()
    return str(topics[0]) if topics else ""


def _persona(campaign: Campaign) -> Persona | None:
    return Persona.objects.filter(campaign=campaign.pk).order_by("order").first()


def _append(
    conversation: Conversation, text: str, *, side: int, in_reply_to: int | None = None
) -> Event:
    return events.append(
        conversation=conversation,
        kind=Event.Kind.MESSAGE,
        content={"text": text},
        side=side,
        in_reply_to=in_reply_to,
    )


def replied(conversation: Conversation, details: Mapping[str, Any]) -> None:
    """Go on with a rehearsal, or judge it after its last reply; a test chat is neither."""
    wanted = conversation.minimum
    replies = conversation.jobs.filter(state=ReplyJob.State.DONE).count()
    if not wanted or replies > wanted:
        return
    if replies < wanted:
        sent = conversation.events.filter(content__has_key="by").count()
        _send(conversation, MESSAGES[sent % len(MESSAGES)], REHEARSAL)
        return
    version = {key: details.get(key, "") for key in ("model", "parameters")}
    version |= {key: details[key] for key in ORIGIN if key in details}
    replies_had = _replies(conversation)
    found_faults = faults(replies_had)
    share = sum(1 for found in found_faults if found) / len(found_faults)
    if 100 * share > conversation.campaign.troubled_percent:
        _note(conversation.system, S.FAILED, _complaint(found_faults), version)
        return
    note = f"answered in {details.get('seconds', 0)} s: {replies_had[-1][0]}"[:1000]
    _note(conversation.system, S.PASSED, note, version)


def _replies(conversation: Conversation) -> list[tuple[str, tuple[str, ...]]]:
    found = ReplyCall.objects.filter(job__conversation=conversation).order_by("job", "number")
    return [reply_of(each) for each in found.select_related("job")]


def reply_of(call: ReplyCall) -> tuple[str, tuple[str, ...]]:
    """Return the text that was shown, "" for none, and the events of the call."""
    is_shown = call.outcome == ReplyCall.Outcome.SHOWN
    return call.job.text if is_shown else "", tuple(call.events.split())


def faults(replies: Sequence[tuple[str, tuple[str, ...]]]) -> list[str]:
    """Return what is wrong with each reply, "" for nothing."""
    texts = [text for text, _ in replies if text]
    is_constant = len(texts) > 1 and len({key(text) for text in texts}) == 1
    found = []
    for text, met in replies:
        trouble = next((calls.EVENTS[name] for name in calls.TROUBLES if name in met), "")
        if not trouble and not text:
            trouble = "the call failed"
        elif not trouble and not _has_words(text):
            trouble = "the reply is only punctuation"
        elif not trouble and is_constant:
            trouble = "the reply is the same every time"
        found.append(trouble)
    return found


def _has_words(text: str) -> bool:
    """Tell whether a text holds a letter, a digit or a symbol such as an emoji."""
    return any(
        unicodedata.category(letter)[0] in "LN" or unicodedata.category(letter) == "So"
        for letter in text
    )


def _complaint(faults: Sequence[str]) -> str:
    counted = Counter(fault for fault in faults if fault)
    return "; ".join(
        f"{count} of {len(faults)} replies: {fault}" for fault, count in counted.items()
    )


def failed(conversation: Conversation, error: str) -> None:
    """Note that a system did not answer, and why."""
    if conversation.minimum:
        _note(conversation.system, S.FAILED, error[:1000], {})


def _note(system: System, state: str, note: str, version: dict[str, str]) -> None:
    rows = System.objects.filter(pk=system.pk, rehearsal=S.QUEUED)
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


def _open(system: System, now: datetime, *, replies: int = 0) -> Conversation:
    conversation = Conversation.objects.create(
        campaign=system.campaign,
        system=system,
        purpose=Conversation.Purpose.REHEARSAL,
        seed=secrets.randbits(48),
        started_at=now,
        minimum=replies,
        topic=topic_of(system.campaign),
    )
    persona = _persona(system.campaign)
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
