"""What participants see of their conversations: entries and status, blinded (S11).

Nothing here names a system, tells a program from a person, or carries a row's number. What several
people ask at the same moment is answered with the same few queries.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from webapp import notices
from webapp.models import Conversation, Event, Participation, ReplyJob, Seat
from webapp.services import access, events, labels, plans

Kind = Event.Kind
SLOW = timedelta(seconds=20)  # then "still thinking" (R13)
AWAY = timedelta(seconds=30)  # without a sign of life (R9)
Frame = dict[str, Any]
Message = tuple[int, int | None, datetime]  # seq, side, when


@dataclass(frozen=True)
class Asked:
    """A browser asks for what came after `after`, as the tab that it is.

    `conversation` is the one that its page was drawn for; by default the active one.
    """

    slug: str
    secret: str
    after: int
    tab: str
    conversation: int = 0


def news_all(asked: Sequence[Asked], *, now: datetime) -> list[list[Frame] | access.NotFound]:
    """Answer several browsers at once; who has no conversation gets `NotFound`."""
    people = access.participations((one.slug, one.secret) for one in asked)
    known = [people.get((one.slug, one.secret)) for one in asked]
    seen: dict[access.Place, int] = {}
    for one, person in zip(asked, known, strict=True):
        if person is not None:  # who asks from two tabs has seen what both have
            place = person.pk, one.conversation
            seen[place] = min(one.after, seen.get(place, one.after))
    facts = _Facts.gather(seen)
    return [
        access.NotFound(f"participation in {one.slug}")
        if person is None
        else facts.news(person, one, now)
        for one, person in zip(asked, known, strict=True)
    ]


def news(
    *, person: Participation, after: int, now: datetime, tab: str = "", conversation: int = 0
) -> list[Frame]:
    """Return the entries later than `after`, in order and without gaps, and then the status."""
    asked = Asked("", "", after, tab, conversation)
    found = _Facts.gather({(person.pk, conversation): after}).news(person, asked, now)
    if isinstance(found, access.NotFound):
        raise found
    return found


def follow(*, person: Participation, after: int) -> list[Frame]:
    """Return the entries later than `after`, in order and without gaps."""
    seat = access.seat(person)
    return [_frame(event, seat.side) for event in events.after(seat.conversation, after)]


def status(*, person: Participation, now: datetime, tab: str = "", conversation: int = 0) -> Frame:
    """Return where the conversation stands and what the person can do, for the tab that asks."""
    last = 2**31 - 1
    return news(person=person, after=last, now=now, tab=tab, conversation=conversation)[-1]


@dataclass(frozen=True)
class _Facts:
    """What is needed to tell people about their conversations."""

    seats: dict[access.Place, Seat]
    later: dict[int, list[Event]]  # by conversation
    messages: dict[int, list[Message]]
    partners_seen: dict[tuple[int, int], datetime]  # by conversation and side; bots have none
    failed: set[tuple[int, int]]  # conversation, message that got no answer

    @classmethod
    def gather(cls, seen: Mapping[access.Place, int]) -> _Facts:
        """Look up what there is to tell these participations, given the seq each has seen."""
        seats = access.seats(seen)
        rooms = {seat.conversation_id for seat in seats.values()}
        messages: dict[int, list[Message]] = defaultdict(list)
        said = Event.objects.filter(conversation__in=rooms, kind=Kind.MESSAGE)
        rows = said.order_by("conversation_id", "seq")
        for room, seq, side, at in rows.values_list("conversation_id", "seq", "side", "made_at"):
            messages[room].append((seq, side, at))
        others = Seat.objects.filter(conversation__in=rooms, participation__isnull=False)
        jobs = ReplyJob.objects.filter(conversation__in=rooms, state=ReplyJob.State.FAILED)
        return cls(
            seats,
            _later(seats, seen),
            messages,
            {
                (room, side): at
                for room, side, at in others.values_list(
                    "conversation_id", "side", "participation__seen_at"
                )
            },
            set(jobs.values_list("conversation_id", "in_reply_to")),
        )

    def news(
        self, person: Participation, asked: Asked, now: datetime
    ) -> list[Frame] | access.NotFound:
        seat = self.seats.get((person.pk, asked.conversation))
        if seat is None:
            return access.NotFound(f"conversation of participation {person.pk}")
        later = self.later.get(seat.conversation_id, ())
        return [
            *(_frame(event, seat.side) for event in later if event.seq > asked.after),
            self._status(seat, person, now, asked.tab),
        ]

    def _status(self, seat: Seat, person: Participation, now: datetime, tab: str) -> Frame:
        room = seat.conversation
        messages = self.messages[room.pk]
        ended = (room.state, person.state) != ("OPEN", "CHATTING")
        unlabeled = _unlabeled(person, room)
        full = room.maximum is not None and len(messages) >= room.maximum
        last_seq, last_side, last_at = messages[-1] if messages else (0, 1, room.started_at)
        turn = None if ended or full else "partner" if last_side == seat.side else "you"
        failed = turn == "partner" and (room.pk, last_seq) in self.failed
        partner_seen = self.partners_seen.get((room.pk, 1 - seat.side), now)
        return {
            "type": "status",
            "turn": turn,
            "messages": len(messages),
            "minimum": room.minimum,
            "maximum": room.maximum,
            "may_finish": not ended and len(messages) >= room.minimum and not unlabeled,
            "must_finish": full and not ended,
            "unlabelled": unlabeled,
            "slow": turn == "partner" and now - last_at >= SLOW,
            "failed": failed,
            "may_retry": failed and not _was_retried(room, last_seq),
            "present": now - partner_seen < AWAY,
            "tab_is_newest": not person.tab or person.tab == tab,
            "ended": ended,
        }


def _later(
    seats: Mapping[access.Place, Seat], seen: Mapping[access.Place, int]
) -> dict[int, list[Event]]:
    """Return the entries that somebody has not seen yet, with one query for all."""
    behind: dict[int, int] = {}
    for place, seat in seats.items():
        room = seat.conversation
        if room.last_seq > seen[place]:  # of two people in it, one may have seen more
            behind[room.pk] = min(seen[place], behind.get(room.pk, seen[place]))
    later: dict[int, list[Event]] = defaultdict(list)
    if behind:
        rows = Event.objects.filter(conversation__in=behind, seq__gt=min(behind.values()))
        for event in rows.order_by("conversation_id", "seq"):
            later[event.conversation_id].append(event)
    return later


def _frame(event: Event, side: int) -> Frame:
    mine = event.side == side
    shown: Frame = {
        "type": "event",
        "seq": event.seq,
        "kind": str(event.kind),
        "side": None if event.side is None else "you" if mine else "partner",
        "at": event.made_at.isoformat(timespec="milliseconds"),
    }
    if event.client_id is not None and mine:
        shown["id"] = str(event.client_id)
    return shown | _content(event, mine)


def _content(event: Event, mine: bool) -> Frame:
    content = event.content
    if event.kind == Kind.MESSAGE:
        return {"text": content["text"]}
    if event.kind == Kind.LABEL and mine:
        return {name: content[name] for name in ("of", "question", "value", "revision")}
    if event.kind == Kind.STATE and "state" in content:
        return {"state": content["state"]}
    if event.kind == Kind.NOTICE:
        return {"code": content["notice"], "notice": notices.text(content["notice"])}
    # a refused draft, or the partner's label: its place in the order is all there is to see
    return {"kind": str(Kind.STATE), "side": None}


def _unlabeled(person: Participation, room: Conversation) -> list[int]:
    if plans.protocol_of(person.campaign).live is None:
        return []
    return labels.unlabeled(room)


def _was_retried(room: Conversation, seq: int) -> bool:
    """Tell whether the answer to this message was asked for again already."""
    later = events.after(room, seq).filter(kind=Kind.STATE)
    return later.filter(content__state="retried").exists()
