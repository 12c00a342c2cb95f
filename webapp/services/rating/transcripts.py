"""Conversations that were held elsewhere, as rows: finished when they are stored.

They belong to the campaign that judges them. The system judged speaks on side 1; of two people
both are judged.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Q, QuerySet

from webapp.models import (
    IMPORTED,
    Campaign,
    Candidate,
    Conversation,
    Event,
    QuotaCell,
    Seat,
    System,
    TranscriptNote,
)
from webapp.services.rating.context_items import draw
from webapp.services.rules.access import AnyCampaign

HUMAN = "human"  # the name of the system that people are
MARK = "REDACTED"  # appendix A of MEENA
IMAGE = re.compile(r"\[[^\]]*\b(?:image|picture|photo|video|gif)\b[^\]]*\]", re.I)
BATCH = 500


@dataclass(frozen=True, kw_only=True)
class ImportedTurn:
    """A message; the judged system speaks on side 1."""

    side: int
    text: str


@dataclass(frozen=True, kw_only=True)
class ImportedChat:
    """A conversation to be stored, with what its note says; `volunteer` is a pseudonym."""

    name: str
    system: str
    turns: tuple[ImportedTurn, ...]
    account: str = ""
    volunteer: str = ""
    began_at: datetime | None = None
    ended_at: datetime | None = None
    reset: bool | None = None
    marks: tuple[str, ...] = ()
    control: str = ""  # which one of a pair with a known answer

    @property
    def judged(self) -> int:
        """How many messages are judged."""
        return sum(turn.side == 1 or self.system == HUMAN for turn in self.turns)

    @property
    def images(self) -> int:
        return sum(len(IMAGE.findall(turn.text)) for turn in self.turns)

    @property
    def redacted(self) -> int:
        return sum(turn.text.count(MARK) for turn in self.turns)


@dataclass(frozen=True, kw_only=True)
class ChatCounts:
    """Conversations of a system, counted: messages, those to judge, images, marks."""

    system: str
    conversations: int
    turns: int
    judged: int
    images: int
    redacted: int
    marks: Mapping[str, int]


def counts(chats: Sequence[ImportedChat]) -> list[ChatCounts]:
    """Count conversations by system."""
    return [
        ChatCounts(
            system=name,
            conversations=len(own),
            turns=sum(len(chat.turns) for chat in own),
            judged=sum(chat.judged for chat in own),
            images=sum(chat.images for chat in own),
            redacted=sum(chat.redacted for chat in own),
            marks=dict(Counter(mark for chat in own for mark in chat.marks)),
        )
        for name in dict.fromkeys(chat.system for chat in chats)
        for own in [[chat for chat in chats if chat.system == name]]
    ]


def of(campaign: AnyCampaign) -> QuerySet[Conversation]:
    """Return a campaign's imported conversations."""
    purpose = Conversation.Purpose.IMPORTED
    return Conversation.objects.filter(campaign=campaign.pk, purpose=purpose)


def stored(campaign: AnyCampaign) -> list[ImportedChat]:
    """Return a campaign's imported conversations as they were imported, in that order."""
    rows = of(campaign).select_related("system", "note").prefetch_related("events").order_by("pk")
    return [
        ImportedChat(
            name=row.note.name,
            system=row.system.name,
            turns=tuple(
                ImportedTurn(side=event.side or 0, text=event.content["text"])
                for event in row.events.all()
            ),
            account=row.note.account,
            volunteer=row.note.volunteer,
            began_at=row.note.began_at,
            ended_at=row.note.ended_at,
            reset=row.note.reset,
            marks=tuple(row.note.marks),
            control=row.note.control,
        )
        for row in rows
    ]


def judged_messages(campaign: AnyCampaign) -> QuerySet[Event]:
    """Return the messages of imported conversations that are judged."""
    rows = Event.objects.filter(conversation__in=of(campaign), kind=Event.Kind.MESSAGE)
    return rows.filter(Q(side=1) | Q(conversation__system__name=HUMAN))


def add(*, campaign: Campaign, chats: Sequence[ImportedChat], now: datetime) -> list[Conversation]:
    """Store conversations in the caller's transaction; systems are made when first named."""
    systems = {system.name: system for system in campaign.systems.all()}
    for name in dict.fromkeys(chat.system for chat in chats):
        if name not in systems:
            systems[name] = System.objects.create(campaign=campaign, bot=IMPORTED, name=name)
            QuotaCell.objects.create(system=systems[name], target=0)
    made = Conversation.objects.bulk_create(
        [_row(campaign, systems[chat.system], chat, now) for chat in chats], batch_size=BATCH
    )
    Seat.objects.bulk_create(
        [Seat(conversation=row, side=side, active=False) for row in made for side in (0, 1)],
        batch_size=BATCH,
    )
    pairs = list(zip(made, chats, strict=True))
    Event.objects.bulk_create([each for pair in pairs for each in _events(*pair)], batch_size=BATCH)
    TranscriptNote.objects.bulk_create([_note(*pair) for pair in pairs], batch_size=BATCH)
    return made


def remove(campaign: Campaign) -> int:
    """Remove imported conversations and what was made of them; return how many.

    Systems stay: the caller knows what else is theirs.
    """
    rows = of(campaign)
    items = campaign.items.filter(candidates__conversation__in=rows)
    keys = list(items.values_list("pk", flat=True))
    Candidate.objects.filter(item__in=keys).delete()
    campaign.items.filter(pk__in=keys).delete()
    for kind in (TranscriptNote, Event, Seat):
        kind._default_manager.filter(conversation__in=rows).delete()
    count, _kinds = rows.delete()
    return count


def _row(campaign: Campaign, system: System, chat: ImportedChat, now: datetime) -> Conversation:
    return Conversation(
        campaign=campaign,
        system=system,
        state=Conversation.State.FINISHED,
        purpose=Conversation.Purpose.IMPORTED,
        first_side=chat.turns[0].side,
        last_seq=len(chat.turns),
        seed=draw(campaign, chat.name, "transcript").getrandbits(63),
        started_at=chat.began_at or now,
        ended_at=chat.ended_at or chat.began_at or now,
        ended_because="imported",
    )


def _events(conversation: Conversation, chat: ImportedChat) -> Iterator[Event]:
    for seq, turn in enumerate(chat.turns, start=1):
        yield Event(
            conversation=conversation,
            seq=seq,
            kind=Event.Kind.MESSAGE,
            side=turn.side,
            content={"text": turn.text},
        )


def _note(conversation: Conversation, chat: ImportedChat) -> TranscriptNote:
    return TranscriptNote(
        conversation=conversation,
        name=chat.name,
        account=chat.account,
        volunteer=chat.volunteer,
        began_at=chat.began_at,
        ended_at=chat.ended_at,
        reset=chat.reset,
        marks=list(chat.marks),
        control=chat.control,
    )
