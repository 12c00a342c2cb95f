"""Messages of people, stored several at once in one transaction.

Messages that arrive at the same moment are checked and stored together, which costs one commit and
a handful of queries; each gets a result of its own, and a refusal of one does not touch the others.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.db import transaction

from evaluation import Chat
from webapp.models import Conversation, Event, Participation, ReplyJob, Seat
from webapp.services.conversation import crisis
from webapp.services.replies import queue
from webapp.services.rules import access, events, protocols, statements, tally
from webapp.services.rules.refusals import NotNow, Refused

Kind = Event.Kind
FRAMES, MESSAGES = 120, 30  # that one person may send per minute, by whatever door (S2)
FRESH = timedelta(seconds=5)  # a sign of life that needs no newer one
UNSTORABLE = re.compile("[\0\ud800-\udfff]")  # NUL and lone surrogates
Refusal = NotNow | Refused | events.Conflict | access.NotFound


@dataclass(frozen=True)
class OutgoingMessage:
    """A message that a participation sends, under the id that its browser gave it.

    `conversation_id` is the one that the page was drawn for; by default the active one.
    """

    person_id: int
    client_id: UUID
    text: str
    conversation_id: int = 0

    @property
    def seat_key(self) -> access.SeatKey:
        return self.person_id, self.conversation_id


def send_all(
    outgoing: Sequence[OutgoingMessage], *, now: datetime, notes_life: bool = True
) -> list[Event | Refusal]:
    """Store messages and owe the bots' replies to them; a repeat gets the first result (R4, R11).

    A message that breaks a check of the protocol is kept as a refused draft, which nobody is shown
    and nothing counts. `notes_life` is False where the caller notes the senders' signs of life.
    """
    with transaction.atomic():
        batch = _Batch.lock(outgoing)
        results = [batch.plan(message) for message in outgoing]
        made = events.append_all(batch.entries)
        batch.tell_staff(now)
        owed = [
            (entry.conversation, event.seq)
            for entry, event, is_owed in zip(batch.entries, made, batch.is_owed, strict=True)
            if is_owed
        ]
        if owed:
            queue.queue_all(owed)
    if notes_life:
        note_signs_of_life(batch.quiet_since(now - FRESH), now)
    found = [made[result] if isinstance(result, int) else result for result in results]
    return [_result(one) if isinstance(one, Event) else one for one in found]


def note_signs_of_life(people: Sequence[int], now: datetime) -> None:
    """Note signs of life, of each person at most every few seconds."""
    if people:
        old = Participation.objects.filter(pk__in=people, seen_at__lt=now - FRESH)
        old.update(seen_at=now)


def _result(event: Event) -> Event | Refusal:
    """Return what became of a message; the check complains again, so that it can be translated."""
    if event.kind == Kind.MESSAGE:
        return event
    seats = event.conversation.seats.exclude(participation=None)
    seat = next((each for each in seats if each.side == event.side), None)
    step = protocols.protocol_of(event.conversation.campaign).chat
    again = step.complaint(event.content["refused"], seat.sentences) if step and seat else None
    return Refused(again or event.content["complaint"])


@dataclass
class _Batch:
    """The state of the locked conversations, and the entries to append."""

    seats: dict[access.SeatKey, Seat]
    conversations: dict[int, Conversation]
    counts: dict[int, int]  # messages of each conversation
    last: dict[int, int | None]  # the side of the last one
    firsts: dict[tuple[int, int | None, UUID | None], Event]
    chatting: set[int]
    signs: Mapping[int, datetime]  # when each person gave the last sign of life
    owed: Counter[int]  # replies that are still to come, where turns are free
    entries: list[events.New] = field(default_factory=list)
    is_owed: list[bool] = field(default_factory=list)  # a reply, to each of the entries
    planned: dict[tuple[int, int, UUID], int] = field(default_factory=dict)
    chats: dict[int, Chat | None] = field(default_factory=dict)  # by campaign
    crises: list[tuple[int, Conversation, str]] = field(default_factory=list)
    cared: set[tuple[int, int]] = field(default_factory=set)

    @classmethod
    def lock(cls, outgoing: Sequence[OutgoingMessage]) -> _Batch:
        seats = events.lock_seats({message.seat_key for message in outgoing})
        conversations = {seat.conversation_id: seat.conversation for seat in seats.values()}
        tally.renew(conversations.values())
        people, firsts = _found(seats.values(), [message.client_id for message in outgoing])
        return cls(
            seats,
            conversations,
            {pk: tally.count(one) for pk, one in conversations.items()},
            {pk: one.last_side for pk, one in conversations.items()},
            firsts,
            {person for person, (chats, _) in people.items() if chats},
            {person: seen_at for person, (_, seen_at) in people.items()},
            _owed(conversations.values()),
        )

    def quiet_since(self, at: datetime) -> list[int]:
        """Return who gave no sign of life since."""
        return [person for person, seen_at in self.signs.items() if seen_at < at]

    def plan(self, message: OutgoingMessage) -> int | Event | Refusal:
        """Return the index of the message's entry, the entry it repeats, or the refusal."""
        try:
            return self._plan(message)
        except (NotNow, events.Conflict, access.NotFound) as refusal:
            return refusal

    def _plan(self, message: OutgoingMessage) -> int | Event:
        text = _storable(message.text)
        seat = self.seats.get(message.seat_key)
        if seat is None:
            raise access.NotFound(f"conversation of participation {message.person_id}")
        conversation = self.conversations[seat.conversation_id]
        kind, content = _message_or_draft(self._chat(conversation), seat, text)
        key = (conversation.pk, seat.side, message.client_id)
        if key in self.planned:
            return self._same(self.planned[key], content)
        if key in self.firsts:
            return events.same(self.firsts[key], kind, content)
        self._may_send(message.person_id, conversation, seat)
        self.entries.append(events.New(conversation, kind, content, seat.side, message.client_id))
        self.is_owed.append(kind == Kind.MESSAGE and self._count(conversation, seat.side))
        self.planned[key] = len(self.entries) - 1
        if crisis.suggests(text, conversation.campaign):
            self._care(message.person_id, conversation, seat.side, text)
        return self.planned[key]

    def _care(self, person_id: int, conversation: Conversation, side: int, text: str) -> None:
        """Show the writer of such words where help is, once a conversation; staff are told."""
        self.crises.append((person_id, conversation, text))
        entry = crisis.shown_in_log(conversation, side)
        if entry is not None and (conversation.pk, side) not in self.cared:
            self.cared.add((conversation.pk, side))
            self.entries.append(entry)
            self.is_owed.append(False)

    def tell_staff(self, now: datetime) -> None:
        """Keep words that suggest a crisis for staff."""
        for person_id, conversation, text in self.crises:
            person = Participation.objects.get(pk=person_id)
            crisis.tell_staff(person=person, text=text, now=now, conversation=conversation)

    def _same(self, index: int, content: dict[str, str]) -> int:
        if self.entries[index].content != content:
            raise events.Conflict("used twice at once with different contents")
        return index

    def _count(self, conversation: Conversation, side: int) -> bool:
        """Count a message; tell whether a bot has to answer it, which it has not at the maximum.

        Where others may be sent before the reply to come, that counts from now on.
        """
        self.counts[conversation.pk] += 1
        self.last[conversation.pk] = side
        is_owed = not conversation.system.is_people and not self._is_full(conversation)
        if is_owed and self._has_free_turns(conversation):
            self.owed[conversation.pk] += 1
        return is_owed

    def _chat(self, conversation: Conversation) -> Chat | None:
        """Return the rules of a conversation, looked up once for all of its campaign."""
        key = conversation.campaign_id
        if key not in self.chats:
            self.chats[key] = protocols.protocol_of(conversation.campaign).chat
        return self.chats[key]

    def _has_free_turns(self, conversation: Conversation) -> bool:
        chat = self._chat(conversation)
        return chat is not None and chat.turns == "free"

    def _is_full(self, conversation: Conversation) -> bool:
        count = self.counts[conversation.pk] + self.owed[conversation.pk]
        return conversation.maximum is not None and count >= conversation.maximum

    def _may_send(self, person_id: int, conversation: Conversation, seat: Seat) -> None:
        is_open = conversation.state == Conversation.State.OPEN
        if not is_open or person_id not in self.chatting or self._is_full(conversation):
            raise NotNow("not_now")
        if self._has_free_turns(conversation):
            return
        last = self.last[conversation.pk]
        if (1 - conversation.first_side if last is None else last) == seat.side:
            raise NotNow("not_your_turn")


def _found(
    seats: Iterable[Seat], client_ids: Sequence[UUID]
) -> tuple[dict[int, tuple[bool, datetime]], dict[tuple[int, int | None, UUID | None], Event]]:
    """Return of each person whether they chat and when they were seen; and what ids were used for.

    It is asked after the lock: what others did before they let go of it is seen.
    """
    people, sent = {}, []
    for one in statements.senders([seat.pk for seat in seats], client_ids):
        chats = one.state == Participation.State.CHATTING and one.withdrawn_at is None
        people[one.person] = (chats, one.seen_at)
        sent += [one.event] if one.event else []
    repeats = Event.objects.filter(pk__in=sent) if sent else []
    return people, {(one.conversation_id, one.side, one.client_id): one for one in repeats}


def _owed(conversations: Iterable[Conversation]) -> Counter[int]:
    """Count the replies that bots owe in conversations of free turns, by conversation."""
    free = [one.pk for one in conversations if protocols.has_free_turns(one.campaign)]
    if not free:
        return Counter()
    pending = (ReplyJob.State.QUEUED, ReplyJob.State.CLAIMED, ReplyJob.State.ANSWERED)
    jobs = ReplyJob.objects.filter(conversation__in=free, state__in=pending)
    return Counter(jobs.values_list("conversation", flat=True))


def _storable(text: str) -> str:
    text = text.strip()
    if not text:
        raise NotNow("empty")
    if len(text) > settings.MAX_MESSAGE_CHARACTERS:
        raise NotNow("too_long", limit=settings.MAX_MESSAGE_CHARACTERS)
    if UNSTORABLE.search(text):
        raise NotNow("bad_text")
    return text


def _message_or_draft(step: Chat | None, seat: Seat, text: str) -> tuple[str, dict[str, str]]:
    complaint = step.complaint(text, seat.sentences) if step and step.checks else None
    if complaint is None:
        return Kind.MESSAGE, {"text": text}
    return Kind.STATE, {"refused": text, "complaint": complaint}
