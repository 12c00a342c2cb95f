"""Exchange of frames: one in, several out, for the socket and for plain HTTP."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from webapp.languages import localized
from webapp.services.conversation import chat
from webapp.services.conversation.page_session import PageSession
from webapp.services.rating import labels
from webapp.services.receipts.acknowledging import StoredEntry, stored
from webapp.services.rules import access, events, refusals, states
from webapp.sockets import frames
from webapp.sockets.frames import Answer, Frame, refused

PONG: Answer = {"type": "pong"}


def act(*, page: PageSession, frame: Frame, now: datetime) -> list[Answer]:
    """Carry out a frame and return the answers to it."""
    match frame:
        case frames.SentItem():
            return [_item(page, frame, now)]
        case frames.Hello():
            return _hello(page, frame, now)
        case frames.Sync():
            return _sync(page, frame.last_seq, now)
        case frames.Takeover():
            return [page.take_over(frame.tab, now).status(now)]
    page.note_sign_of_life(now)
    return [PONG]


def _item(page: PageSession, item: frames.SentItem, now: datetime) -> Answer:
    """Answer an item that the sender keeps until it is acknowledged or refused."""
    try:
        return ack(item, _do(page, item, now))
    except REFUSALS as problem:
        return refusal(item, problem)


def ack(item: frames.SentItem, stored: StoredEntry | None) -> Answer:
    """Return the acknowledgement of an item; only what is committed may be acknowledged (R6)."""
    answer: Answer = {"type": "ack", "id": str(item.id)}
    if stored is not None:
        answer["seq"] = stored.seq
        if stored.receipt:
            answer["receipt"] = stored.receipt
    return answer


def refusal(item: frames.SentItem, problem: Exception) -> Answer:
    """Return the frame that tells why an item is refused."""
    match problem:
        case refusals.Refused():
            return refused(item.id, "check", localized(problem.complaint))
        case refusals.NotNow():
            return refused(item.id, problem.notice, values=problem.values)
        case labels.LabelRefused():
            return refused(item.id, problem.notice, problem.complaint)
        case events.Conflict():
            return refused(item.id, "used_id")
    return refused(item.id, "not_now")


REFUSALS = (
    refusals.Refused,
    refusals.NotNow,
    labels.LabelRefused,
    events.Conflict,
    states.Illegal,
    access.NotFound,
)


def _do(page: PageSession, item: frames.SentItem, now: datetime) -> StoredEntry | None:
    """Do what an item asks for; return its entry where the answer names one."""
    by = page.by(item.id)
    match item:
        case frames.Message():
            return stored(chat.send_message(**by, text=item.text, now=now))
        case frames.Label():
            by |= {"question": item.question, "value": item.value, "revision": item.revision}
            return stored(chat.label(**by, seq=item.seq, now=now))
        case frames.Retry():
            return stored(chat.retry(**by, now=now))
        case frames.Finish():
            chat.finish(**by, now=now)
        case frames.GiveUp():
            chat.give_up(**by, now=now)
    return None


def _hello(page: PageSession, frame: frames.Hello, now: datetime) -> list[Answer]:
    """Replay what came after `last_seq`. A page that has shown nothing is new, and controls."""
    if frame.last_seq == 0 or page.is_new:
        page.take_over(frame.tab, now)
    return _sync(replace(page, tab=frame.tab), frame.last_seq, now)


def _sync(page: PageSession, last_seq: int, now: datetime) -> list[Answer]:
    found = page.updates(last_seq, now)
    seqs = [one["seq"] for one in found if one["type"] == "event"]
    return [*found, {"type": "ready", "last_seq": seqs[-1] if seqs else last_seq}]
