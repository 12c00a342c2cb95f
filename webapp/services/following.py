"""What a participant sees of a conversation: its entries and its status, blinded (S11).

Nothing here names a system, tells a program from a person, or carries a row's number.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from webapp import notices
from webapp.models import Conversation, Event, Participation, ReplyJob, Seat
from webapp.services import access, events, plans, rating

Kind = Event.Kind
SLOW = timedelta(seconds=20)  # then "still thinking" (R13)
AWAY = timedelta(seconds=30)  # without a sign of life (R9)
Frame = dict[str, Any]


def follow(*, person: Participation, after: int) -> list[Frame]:
    """Return the entries later than `after` as frames, in order and without gaps."""
    return _entries(access.seat(person), after)


def status(*, person: Participation, now: datetime, tab: str = "") -> Frame:
    """Return where the conversation stands and what the person can do, for the tab that asks."""
    return _status(access.seat(person), person, now, tab)


def news(*, person: Participation, after: int, now: datetime, tab: str = "") -> list[Frame]:
    """Return what `follow` and `status` do, in fewer queries."""
    seat = access.seat(person)
    return [*_entries(seat, after), _status(seat, person, now, tab)]


def _entries(seat: Seat, after: int) -> list[Frame]:
    return [_frame(event, seat.side) for event in events.after(seat.conversation, after)]


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


def _status(seat: Seat, person: Participation, now: datetime, tab: str) -> Frame:
    conversation = seat.conversation
    sides = list(events.messages(conversation).values_list("side", "made_at"))
    ended = conversation.state != Conversation.State.OPEN or person.state != "CHATTING"
    unlabeled = _unlabeled(conversation)
    full = conversation.maximum is not None and len(sides) >= conversation.maximum
    turn = None if ended or full else _turn(seat, [side for side, _ in sides])
    waited = now - sides[-1][1] if sides else now - conversation.started_at
    return {
        "type": "status",
        "turn": turn,
        "messages": len(sides),
        "minimum": conversation.minimum,
        "maximum": conversation.maximum,
        "may_finish": not ended and len(sides) >= conversation.minimum and not unlabeled,
        "must_finish": full and not ended,
        "unlabelled": unlabeled,
        "slow": turn == "partner" and waited >= SLOW,
        **_failure(conversation, waits=turn == "partner"),
        "present": _is_present(conversation, seat, now),
        "tab_is_newest": not person.tab or person.tab == tab,
        "ended": ended,
    }


def _turn(seat: Seat, sides: list[int | None]) -> str:
    last = sides[-1] if sides else 1
    return "partner" if last == seat.side else "you"


def _unlabeled(conversation: Conversation) -> list[int]:
    if plans.protocol_of(conversation.campaign).live is None:
        return []
    return list(rating.unlabeled(conversation=conversation))


def _failure(conversation: Conversation, *, waits: bool) -> dict[str, bool]:
    """Tell whether the partner's answer was given up, and whether it may be asked for again."""
    job = conversation.jobs.order_by("-in_reply_to").first() if waits else None
    if job is None or job.state != ReplyJob.State.FAILED:
        return {"failed": False, "may_retry": False}
    later = events.after(conversation, job.in_reply_to).filter(kind=Kind.STATE)
    return {"failed": True, "may_retry": not later.filter(content__state="retried").exists()}


def _is_present(conversation: Conversation, seat: Seat, now: datetime) -> bool:
    partner = conversation.seats.exclude(side=seat.side).select_related("participation").first()
    if partner is None or partner.participation is None:
        return True
    return now - partner.participation.seen_at < AWAY
