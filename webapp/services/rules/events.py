"""A conversation's log: in order, each entry once (R4, R5)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import F, QuerySet

from webapp import realtime
from webapp.models import Conversation, Event


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
        (event,) = append_all([New(locked, kind, content, side, client_id, in_reply_to)])
        conversation.last_seq, conversation.state = locked.last_seq, locked.state
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


def append_all(entries: Sequence[New]) -> list[Event]:
    """Append entries to conversations that this transaction has locked, in the order given."""
    made = []
    grown: Counter[int] = Counter()
    for new in entries:
        conversation = new.conversation
        conversation.last_seq += 1
        grown[conversation.pk] += 1
        made.append(
            Event(
                conversation=conversation,
                seq=conversation.last_seq,
                kind=new.kind,
                side=new.side,
                client_id=new.client_id,
                in_reply_to=new.in_reply_to,
                content=new.content,
            )
        )
    Event.objects.bulk_create(made)
    for count in set(grown.values()):
        same = [pk for pk, number in grown.items() if number == count]
        Conversation.objects.filter(pk__in=same).update(last_seq=F("last_seq") + count)
    for event in made:
        realtime.hint_on_commit(event.conversation_id, event.seq)
    return made


def lock(pk: int) -> Conversation:
    """Return the conversation as it is now, unchanged by others until the transaction ends."""
    return lock_all([pk])[pk]


def lock_all(pks: Iterable[int]) -> dict[int, Conversation]:
    """Lock conversations, in the one order in which they are locked everywhere.

    PostgreSQL locks the rows; on SQLite the immediate transaction already is the only writer.
    """
    rows = Conversation.objects.select_for_update(of=("self",)).filter(pk__in=set(pks))
    return {row.pk: row for row in rows.select_related("campaign", "system").order_by("pk")}


def first(
    *, conversation: Conversation, side: int, client_id: UUID, kind: str, content: dict[str, Any]
) -> Event | None:
    """Return the entry that this client id made before, if any; another content is a conflict."""
    event = _first(conversation, side, client_id)
    return None if event is None else same(event, kind, content)


def nudge(conversation: Conversation) -> None:
    """Make the followers of a conversation look again, though nothing was appended."""
    realtime.hint_on_commit(conversation.pk, 0)


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
