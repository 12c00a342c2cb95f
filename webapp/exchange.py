"""One frame in, frames out: what the socket and plain HTTP have in common."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from webapp.frames import Frame, refused
from webapp.models import Participation
from webapp.services import access, chat, events, following, labels, refusals, states


def act(*, person: Participation, frame: Frame, now: datetime, tab: str = "") -> list[Frame]:
    """Do what a parsed frame asks for, and return the answers to it."""
    if frame["type"] in ITEMS:
        return [_item(person, frame, now)]
    return SIGNALS[frame["type"]](person, frame, now, tab)


def _item(person: Participation, frame: Frame, now: datetime) -> Frame:
    """Answer an item that the sender keeps until it is acknowledged or refused."""
    try:
        return ack(frame["id"], ITEMS[frame["type"]](person, frame, now))
    except REFUSALS as problem:
        return refusal(frame["id"], problem)


def ack(item: object, seq: int | None) -> Frame:
    """Return the acknowledgement of an item; only what is committed may be acknowledged (R6)."""
    return {"type": "ack", "id": str(item)} | ({} if seq is None else {"seq": seq})


def refusal(item: object, problem: Exception) -> Frame:
    """Return the frame that tells why an item is refused."""
    match problem:
        case refusals.Refused():
            return refused(item, "check", problem.complaint)
        case refusals.NotNow():
            return refused(item, problem.notice, values=problem.values)
        case labels.Refused():
            return refused(item, problem.notice, problem.complaint)
        case events.Conflict():
            return refused(item, "used_id")
    return refused(item, "not_now")


REFUSALS = (
    refusals.Refused,
    refusals.NotNow,
    labels.Refused,
    events.Conflict,
    states.Illegal,
    access.NotFound,
)


def _say(person: Participation, frame: Frame, now: datetime) -> int:
    return chat.say(person=person, client_id=frame["id"], text=frame["text"], now=now).seq


def _label(person: Participation, frame: Frame, now: datetime) -> int:
    entry = chat.label(
        person=person,
        client_id=frame["id"],
        seq=frame["seq"],
        question=frame["question"],
        value=frame["value"],
        revision=frame["revision"],
        now=now,
    )
    return entry.seq


def _retry(person: Participation, frame: Frame, now: datetime) -> int:
    return chat.retry(person=person, client_id=frame["id"], now=now).seq


def _finish(person: Participation, frame: Frame, now: datetime) -> None:
    chat.finish(person=person, client_id=frame["id"], now=now)


def _give_up(person: Participation, frame: Frame, now: datetime) -> None:
    chat.give_up(person=person, client_id=frame["id"], now=now)


ITEMS: dict[str, Callable[[Participation, Frame, datetime], Any]] = {
    "say": _say,
    "label": _label,
    "retry": _retry,
    "finish": _finish,
    "give_up": _give_up,
}


def _hello(person: Participation, frame: Frame, now: datetime, tab: str) -> list[Frame]:
    """Replay what came after `last_seen`. A page that has seen nothing is new, and controls."""
    if frame["last_seen"] == 0 or not person.tab:
        chat.take_over(person=person, tab=frame["tab"], now=now)
        person.tab = frame["tab"]
    return _sync(person, frame, now, frame["tab"])


def _sync(person: Participation, frame: Frame, now: datetime, tab: str) -> list[Frame]:
    found = following.news(person=person, after=frame["last_seen"], now=now, tab=tab)
    seqs = [one["seq"] for one in found if one["type"] == "event"]
    return [*found, {"type": "ready", "last_seen": seqs[-1] if seqs else frame["last_seen"]}]


def _takeover(person: Participation, frame: Frame, now: datetime, tab: str) -> list[Frame]:
    chat.take_over(person=person, tab=frame["tab"], now=now)
    person.tab = frame["tab"]
    return [following.status(person=person, now=now, tab=frame["tab"])]


def _ping(person: Participation, frame: Frame, now: datetime, tab: str) -> list[Frame]:
    chat.seen(person=person, now=now)
    return [{"type": "pong"}]


SIGNALS: dict[str, Callable[[Participation, Frame, datetime, str], list[Frame]]] = {
    "hello": _hello,
    "sync": _sync,
    "takeover": _takeover,
    "ping": _ping,
}
