"""A conversation's log: in order, each entry once (R4, R5)."""

from __future__ import annotations

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

    Taking the next seq locks the conversation's row, so appends to it come one after another and a
    repeat is seen by the look-up that follows.
    """
    with transaction.atomic():
        rows = Conversation.objects.filter(pk=conversation.pk)
        rows.update(last_seq=F("last_seq") + 1)
        first = _first(conversation, side, client_id)
        if first is not None:
            rows.update(last_seq=F("last_seq") - 1)
            return _same(first, kind, content)
        conversation.refresh_from_db(fields=["last_seq", "state"])
        event = Event.objects.create(
            conversation=conversation,
            seq=conversation.last_seq,
            kind=kind,
            side=side,
            client_id=client_id,
            in_reply_to=in_reply_to,
            content=content,
        )
        realtime.hint_on_commit(conversation.pk, event.seq)
        return event


def lock(pk: int) -> Conversation:
    """Return the conversation as it is now, unchanged by others until the transaction ends.

    PostgreSQL locks the row; on SQLite the immediate transaction already is the only writer.
    """
    rows = Conversation.objects.select_for_update(of=("self",))
    return rows.select_related("campaign", "system").get(pk=pk)


def first(
    *, conversation: Conversation, side: int, client_id: UUID, kind: str, content: dict[str, Any]
) -> Event | None:
    """Return the entry that this client id made before, if any; another content is a conflict."""
    event = _first(conversation, side, client_id)
    return None if event is None else _same(event, kind, content)


def nudge(conversation: Conversation) -> None:
    """Let who follows a conversation look again, though nothing was appended."""
    realtime.hint_on_commit(conversation.pk, conversation.last_seq)


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


def _same(first: Event, kind: str, content: dict[str, Any]) -> Event:
    if first.kind != kind or first.content != content:
        raise Conflict(f"id {first.client_id} was used before with other content")
    return first
