"""Messages that people say, several at once in one transaction.

What many people send at the same moment is checked and stored together, which costs one commit and
a handful of queries; each gets a result of its own, and a refusal of one does not touch the others.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.db import transaction

from webapp.models import Conversation, Event, Participation, Seat
from webapp.services import access, events, plans, replies
from webapp.services.refusals import NotNow, Refused

Kind = Event.Kind
FRESH = timedelta(seconds=5)  # a sign of life that needs no newer one
Refusal = NotNow | Refused | events.Conflict | access.NotFound


@dataclass(frozen=True)
class Saying:
    """What a participation wants to say, under the id that its browser gave it.

    `conversation` is the one that the page was drawn for; by default the active one.
    """

    person: int
    client_id: UUID
    text: str
    conversation: int = 0

    @property
    def place(self) -> access.Place:
        return self.person, self.conversation


def say_all(sayings: Sequence[Saying], *, now: datetime) -> list[Event | Refusal]:
    """Store messages and owe the bots' replies to them; a repeat gets the first result (R4, R11).

    A message that breaks a check of the protocol is kept as a refused draft, which nobody is shown
    and nothing counts.
    """
    seats = access.seats(saying.place for saying in sayings)
    with transaction.atomic():
        batch = _Batch.lock(seats, sayings)
        places = [batch.place(saying) for saying in sayings]
        made = events.append_all(batch.entries)
        replies.queue_all(
            [
                (entry.conversation, event.seq)
                for entry, event in zip(batch.entries, made, strict=True)
                if batch.is_owed(entry)
            ]
        )
    seen([saying.person for saying in sayings], now)
    found = [made[place] if isinstance(place, int) else place for place in places]
    return [_told(one) if isinstance(one, Event) else one for one in found]


def seen(people: Sequence[int], now: datetime) -> None:
    """Note signs of life, of each person at most every few seconds."""
    old = Participation.objects.filter(pk__in=people, seen_at__lt=now - FRESH)
    if old.exists():
        old.update(seen_at=now)


def _told(event: Event) -> Event | Refusal:
    return event if event.kind == Kind.MESSAGE else Refused(event.content["complaint"])


@dataclass
class _Batch:
    """What is known of the conversations while they are locked, and what is to be appended."""

    seats: dict[access.Place, Seat]
    rooms: dict[int, Conversation]
    sides: dict[int, list[int | None]]  # of all messages, in order
    firsts: dict[tuple[int, int | None, UUID | None], Event]
    chatting: set[int]
    entries: list[events.New] = field(default_factory=list)
    planned: dict[tuple[int, int, UUID], int] = field(default_factory=dict)

    @classmethod
    def lock(cls, seats: dict[access.Place, Seat], sayings: Sequence[Saying]) -> _Batch:
        rooms = events.lock_all(seat.conversation_id for seat in seats.values())
        logged = Event.objects.filter(conversation__in=rooms)
        sides: dict[int, list[int | None]] = defaultdict(list)
        said = logged.filter(kind=Kind.MESSAGE).order_by("conversation_id", "seq")
        for room, side in said.values_list("conversation_id", "side"):
            sides[room].append(side)
        repeats = logged.filter(client_id__in=[saying.client_id for saying in sayings])
        firsts = {(one.conversation_id, one.side, one.client_id): one for one in repeats}
        chatting = Participation.objects.filter(
            pk__in={person for person, _ in seats},
            state=Participation.State.CHATTING,
            withdrawn_at=None,
        )
        return cls(seats, rooms, sides, firsts, set(chatting.values_list("pk", flat=True)))

    def place(self, saying: Saying) -> int | Event | Refusal:
        """Return the place of the message's entry, or the entry it repeats, or why not."""
        try:
            return self._place(saying)
        except (NotNow, events.Conflict, access.NotFound) as refusal:
            return refusal

    def _place(self, saying: Saying) -> int | Event:
        text = _storable(saying.text)
        seat = self.seats.get(saying.place)
        if seat is None:
            raise access.NotFound(f"conversation of participation {saying.person}")
        room = self.rooms[seat.conversation_id]
        kind, content = _message_or_draft(room, seat, text)
        key = (room.pk, seat.side, saying.client_id)
        if key in self.planned:
            return self._same(self.planned[key], content)
        if key in self.firsts:
            return events.same(self.firsts[key], kind, content)
        self._may_speak(saying.person, room, seat)
        self.entries.append(events.New(room, kind, content, seat.side, saying.client_id))
        if kind == Kind.MESSAGE:
            self.sides[room.pk].append(seat.side)
        self.planned[key] = len(self.entries) - 1
        return self.planned[key]

    def _same(self, place: int, content: dict[str, str]) -> int:
        if self.entries[place].content != content:
            raise events.Conflict("used twice at once with different contents")
        return place

    def _may_speak(self, person: int, room: Conversation, seat: Seat) -> None:
        sides = self.sides[room.pk]
        is_full = room.maximum is not None and len(sides) >= room.maximum
        if room.state != Conversation.State.OPEN or person not in self.chatting or is_full:
            raise NotNow("not_now")
        if (sides[-1] if sides else 1) == seat.side:
            raise NotNow("not_your_turn")

    def is_owed(self, entry: events.New) -> bool:
        """Tell whether a bot has to answer this entry: a message that is not the last allowed."""
        room = entry.conversation
        is_last = room.maximum is not None and len(self.sides[room.pk]) >= room.maximum
        return entry.kind == Kind.MESSAGE and not room.system.is_people and not is_last


def _storable(text: str) -> str:
    text = text.strip()
    if not text:
        raise NotNow("empty")
    if len(text) > settings.MAX_MESSAGE_CHARACTERS:
        raise NotNow("too_long", limit=settings.MAX_MESSAGE_CHARACTERS)
    if "\0" in text or any("\ud800" <= letter <= "\udfff" for letter in text):
        raise NotNow("bad_text")
    return text


def _message_or_draft(room: Conversation, seat: Seat, text: str) -> tuple[str, dict[str, str]]:
    step = plans.protocol_of(room.campaign).chat
    own = tuple(seat.persona.sentences) if seat.persona else ()
    complaint = step.complaint(text, own) if step else None
    if complaint is None:
        return Kind.MESSAGE, {"text": text}
    return Kind.STATE, {"refused": text, "complaint": complaint}
