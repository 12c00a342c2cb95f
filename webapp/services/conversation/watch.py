"""Conversations that have changed since their pages were told, found for all pages by one query.

Apart because sockets that are idle cost no more than this: one query of a process per second.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Exists, OuterRef

from webapp.models import Conversation, Participation, ReplyJob, Seat
from webapp.services.conversation.messages import note_signs_of_life
from webapp.services.conversation.updates import AWAY, SLOW, Frame

SeatOf = tuple[int, int]  # a conversation and a side
COLUMNS = (
    "conversation",
    "side",
    "conversation__last_seq",
    "conversation__state",
    "conversation__last_side",
    "conversation__last_message_at",
    "conversation__started_at",
    "participation__state",
    "participation__tab",
    "participation__withdrawn_at",
    "participation__seen_at",
)


@dataclass(frozen=True)
class PageState:
    """What a page was shown: the latest entry and status."""

    last_seq: int
    status: Frame
    tab: str


@dataclass(frozen=True)
class Current:
    """The side of a conversation as the database has it now."""

    last_seq: int
    is_ended: bool
    is_slow: bool  # by the clock; whether the platform was up as long, a look tells
    is_present: bool
    failed: bool
    tab: str
    is_withdrawn: bool

    def differences(self, shown: PageState) -> frozenset[str]:
        """Return the names of what a page has to look for."""
        if self.is_withdrawn:
            return frozenset({"person"})
        is_newest = not self.tab or self.tab == shown.tab
        waits = shown.status.get("turn") == "partner"
        compared = {
            "ended": self.is_ended,
            "slow": self.is_slow and waits,
            "present": self.is_present,
            "failed": self.failed and waits,
            "tab_is_newest": is_newest,
        }
        found = {name for name, value in compared.items() if shown.status.get(name) != value}
        return frozenset(found | ({"seq"} if self.last_seq > shown.last_seq else set()))


def look(
    conversations: Collection[int], alive: Collection[int], now: datetime
) -> dict[SeatOf, Current]:
    """Return how the seats of conversations stand; people who are `alive` are noted first."""
    note_signs_of_life(list(alive), now)
    failed = ReplyJob.objects.filter(
        conversation=OuterRef("conversation"),
        in_reply_to=OuterRef("conversation__last_message"),
        state=ReplyJob.State.FAILED,
    )
    rows = Seat.objects.filter(conversation__in=conversations).order_by()
    found = {
        (row["conversation"], row["side"]): row
        for row in rows.values(*COLUMNS, failed=Exists(failed))
    }
    return {
        key: _current(row, found.get((key[0], 1 - key[1]), {}), now)
        for key, row in found.items()
        if row["participation__state"] is not None  # else the bot's
    }


def _current(row: dict[str, Any], partner: dict[str, Any], now: datetime) -> Current:
    states = (row["conversation__state"], row["participation__state"])
    last_at = row["conversation__last_message_at"] or row["conversation__started_at"]
    is_withdrawn = row["participation__withdrawn_at"] is not None
    return Current(
        row["conversation__last_seq"],
        states != (Conversation.State.OPEN, Participation.State.CHATTING),
        now - last_at >= SLOW,
        now - (partner.get("participation__seen_at") or now) < AWAY,
        row["failed"],
        row["participation__tab"],
        is_withdrawn,
    )
