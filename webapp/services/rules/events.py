"""A conversation's log: in order, each entry once (R4, R5)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet

from webapp import realtime
from webapp.models import Conversation, Event, Seat
from webapp.services.rules import access, statements, tally


class Conflict(Exception):
    """A client id that was used before, with other content: nothing is written."""


def append(
    *,
    conversation: Conversation,
    kind: str,
    content: dict[str, Any],
    side: int | None = None,
    client_id: UUID | None = None,
    in_reply_to: int | None = None,
) -> Event:
    """Append an entry under the next seq and hint after commit; a repeat returns the first one.

    The conversation is locked, so appends to it come one after another and a repeat is seen by the
    look-up that follows.
    """
    with transaction.atomic():
        locked = lock(conversation.pk)
        first = _first(locked, side, client_id)
        if first is not None:
            return same(first, kind, content)
        event = append_one(New(locked, kind, content, side, client_id, in_reply_to))
        tally.copy(locked, conversation)
        conversation.state = locked.state
        return event


@dataclass(frozen=True)
class New:
    """An entry to be appended to a locked conversation."""

    conversation: Conversation
    kind: str
    content: dict[str, Any]
    side: int | None = None
    client_id: UUID | None = None
    in_reply_to: int | None = None


@dataclass(frozen=True)
class Committed:
    """A message that was committed, and where its conversation stood then."""

    event: Event
    messages: int
    minimum: int
    maximum: int | None


def append_all(entries: Sequence[New]) -> list[Event]:
    """Append entries to conversations that this transaction has locked, in the order given.

    Once they are committed they are handed to the followers (see `realtime`).
    """
    conversations = {new.conversation.pk: new.conversation for new in entries}
    tally.renew(conversations.values())
    made, grown = [], []
    for new in entries:
        event = _next(new)
        tally.add(new.conversation, event)
        made.append(event)
        grown.append(realtime.Grown(new.conversation.pk, event.seq, _committed(event)))
    statements.insert_events(made)
    tally.store(conversations.values())
    realtime.tell_on_commit(grown)
    return made


def append_one(new: New) -> Event:
    """Append an entry to a conversation that this transaction has locked, or made itself."""
    (event,) = append_all([new])
    return event


def _next(new: New) -> Event:
    conversation = new.conversation
    conversation.last_seq += 1
    return Event(
        conversation=conversation,
        seq=conversation.last_seq,
        kind=new.kind,
        side=new.side,
        client_id=new.client_id,
        in_reply_to=new.in_reply_to,
        content=new.content,
    )


def _committed(event: Event) -> Committed | None:
    """Return what followers are shown without a look: messages of an open conversation."""
    conversation = event.conversation
    if event.kind != Event.Kind.MESSAGE or conversation.state != Conversation.State.OPEN:
        return None
    count = tally.count(conversation)
    return Committed(event, count, conversation.minimum, conversation.maximum)


def lock(pk: int) -> Conversation:
    """Return the conversation as it is now, unchanged by others until the transaction ends."""
    return lock_all([pk])[pk]


def lock_all(pks: Iterable[int]) -> dict[int, Conversation]:
    """Lock conversations, in the one order in which they are locked everywhere.

    PostgreSQL locks the rows; on SQLite the immediate transaction already is the only writer.
    """
    return statements.lock_conversations(set(pks))


def lock_seats(keys: Collection[access.SeatKey]) -> dict[access.SeatKey, Seat]:
    """Return seats whose conversations are locked, in the same order, by one statement.

    In conversation 0 it is the participation's active seat, else the latest one, for which they are
    looked up first. Seats of one conversation share its row.
    """
    named = {key: key for key in keys if key[1]}
    if unnamed := [key for key in keys if not key[1]]:
        seats = access.seats(unnamed).items()
        named |= {key: (key[0], seat.conversation_id) for key, seat in seats}
    found = {
        (seat.participation_id or 0, seat.conversation_id): seat
        for seat in statements.lock_seats(
            {person for person, _ in named.values()}, {pk for _, pk in named.values()}
        )
    }
    return {key: found[pair] for key, pair in named.items() if pair in found}


def first(
    *, conversation: Conversation, side: int, client_id: UUID, kind: str, content: dict[str, Any]
) -> Event | None:
    """Return the entry that this client id made before, if any; another content is a conflict."""
    event = _first(conversation, side, client_id)
    return None if event is None else same(event, kind, content)


def nudge(conversation: Conversation) -> None:
    """Make the followers of a conversation look again, though nothing was appended."""
    realtime.tell_on_commit([realtime.Grown(conversation.pk)])


def after(conversation: Conversation, seq: int) -> QuerySet[Event]:
    """Return the entries later than `seq`, in order."""
    return Event.objects.filter(conversation=conversation, seq__gt=seq).order_by("seq")


def messages(conversation: Conversation) -> QuerySet[Event]:
    """Return the conversation's messages, in order."""
    return after(conversation, 0).filter(kind=Event.Kind.MESSAGE)


def _first(conversation: Conversation, side: int | None, client_id: UUID | None) -> Event | None:
    if client_id is None:
        return None
    return Event.objects.filter(conversation=conversation, side=side, client_id=client_id).first()


def same(first: Event, kind: str, content: dict[str, Any]) -> Event:
    """Return the first entry of a client id, if this is a repeat of it; else it is a conflict."""
    if first.kind != kind or first.content != content:
        raise Conflict(f"id {first.client_id} was used before with other content")
    return first
