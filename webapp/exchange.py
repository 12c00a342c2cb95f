"""One frame in, frames out: what the socket and plain HTTP have in common."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from webapp.frames import Frame, refused
from webapp.models import Participation
from webapp.services import access, chat, events, following, labels, refusals, states


@dataclass(frozen=True)
class Page:
    """Whose page sends frames, which tab it is in, and the conversation that it was drawn for.

    That may be over while its person is in the next one, whose entries this page must not show.
    """

    person: Participation
    conversation: int = 0
    tab: str = ""


def act(*, page: Page, frame: Frame, now: datetime) -> list[Frame]:
    """Do what a parsed frame asks for, and return the answers to it."""
    if frame["type"] in ITEMS:
        return [_item(page, frame, now)]
    return SIGNALS[frame["type"]](page, frame, now)


def _item(page: Page, frame: Frame, now: datetime) -> Frame:
    """Answer an item that the sender keeps until it is acknowledged or refused."""
    try:
        return ack(frame["id"], ITEMS[frame["type"]](page, frame, now))
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


def _say(page: Page, frame: Frame, now: datetime) -> int:
    said = {"client_id": frame["id"], "text": frame["text"]}
    return chat.say(person=page.person, room=page.conversation, now=now, **said).seq


def _label(page: Page, frame: Frame, now: datetime) -> int:
    entry = chat.label(
        person=page.person,
        room=page.conversation,
        client_id=frame["id"],
        seq=frame["seq"],
        question=frame["question"],
        value=frame["value"],
        revision=frame["revision"],
        now=now,
    )
    return entry.seq


def _retry(page: Page, frame: Frame, now: datetime) -> int:
    entry = chat.retry(person=page.person, room=page.conversation, client_id=frame["id"], now=now)
    return entry.seq


def _finish(page: Page, frame: Frame, now: datetime) -> None:
    chat.finish(person=page.person, room=page.conversation, client_id=frame["id"], now=now)


def _give_up(page: Page, frame: Frame, now: datetime) -> None:
    chat.give_up(person=page.person, room=page.conversation, client_id=frame["id"], now=now)


ITEMS: dict[str, Callable[[Page, Frame, datetime], Any]] = {
    "say": _say,
    "label": _label,
    "retry": _retry,
    "finish": _finish,
    "give_up": _give_up,
}


def _hello(page: Page, frame: Frame, now: datetime) -> list[Frame]:
    """Replay what came after `last_seen`. A page that has seen nothing is new, and controls."""
    if frame["last_seen"] == 0 or not page.person.tab:
        _control(page, frame["tab"], now)
    return _sync(replace(page, tab=frame["tab"]), frame, now)


def _control(page: Page, tab: str, now: datetime) -> None:
    chat.take_over(person=page.person, room=page.conversation, tab=tab, now=now)
    page.person.tab = tab


def _sync(page: Page, frame: Frame, now: datetime) -> list[Frame]:
    found = following.news(
        person=page.person,
        after=frame["last_seen"],
        now=now,
        tab=page.tab,
        conversation=page.conversation,
    )
    seqs = [one["seq"] for one in found if one["type"] == "event"]
    return [*found, {"type": "ready", "last_seen": seqs[-1] if seqs else frame["last_seen"]}]


def _takeover(page: Page, frame: Frame, now: datetime) -> list[Frame]:
    _control(page, frame["tab"], now)
    return [
        following.status(
            person=page.person, now=now, tab=frame["tab"], conversation=page.conversation
        )
    ]


def _ping(page: Page, frame: Frame, now: datetime) -> list[Frame]:
    chat.seen(person=page.person, now=now)
    return [{"type": "pong"}]


SIGNALS: dict[str, Callable[[Page, Frame, datetime], list[Frame]]] = {
    "hello": _hello,
    "sync": _sync,
    "takeover": _takeover,
    "ping": _ping,
}
