"""The frames of the server, as types: docs/protocol/ is generated from them and those of clients.

What the server sends is looked at against them by tests, which read real sockets; nothing is
checked twice on the way.
"""

from __future__ import annotations

from typing import Annotated, Literal
from uuid import UUID

from msgspec import UNSET, Meta, Struct, UnsetType

EntrySeq = Annotated[int, Meta(ge=1, le=2**31 - 1)]
Count = Annotated[int, Meta(ge=0)]
Side = Literal["you", "partner"] | None
EntryTime = Annotated[
    str, Meta(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00$", description="UTC")
]
AckReceipt = Annotated[
    str,
    Meta(
        pattern=r"^PA1\.(message|label)\.\d+\.\d+\.[0-9a-f-]{36}\.[0-9a-f]{64}"
        r"\.[\w-]{11}\.[\w-]{43}$",
        description="this server's word that it stored the item; manage.py verify reads it",
    ),
]
Complaint = Annotated[
    str,
    Meta(
        max_length=200,
        description="of a bad frame, in English, for who writes a client: the field, its value, "
        "and what would be right",
    ),
]
RefusalCode = Literal[
    "bad_frame",
    "bad_text",
    "changed_elsewhere",
    "check",
    "empty",
    "locked",
    "not_now",
    "not_your_turn",
    "too_few",
    "too_long",
    "unlabeled",
    "used_id",
]


class EntryFrame(Struct, frozen=True, kw_only=True, tag_field="kind"):
    """An entry of the conversation; show them by `seq`, without gaps."""

    type: Literal["event"]
    seq: EntrySeq
    side: Side
    at: EntryTime
    id: UUID | UnsetType = UNSET


class MessageEntry(EntryFrame, frozen=True, kw_only=True, tag="message"):
    """A message, as plain text."""

    text: str


class LabelEntry(EntryFrame, frozen=True, kw_only=True, tag="label"):
    """An own label of message `of`."""

    of: EntrySeq
    question: str
    value: str
    revision: Count


class StateEntry(EntryFrame, frozen=True, kw_only=True, tag="state"):
    """A change of the conversation; without `state` there is nothing to show."""

    state: Literal["finished", "left", "failed", "retried", "stopped"] | UnsetType = UNSET


class NoticeEntry(EntryFrame, frozen=True, kw_only=True, tag="notice"):
    """What the platform tells the participant."""

    code: str
    notice: str


class AnswerFrame(Struct, frozen=True, kw_only=True):
    """A frame that is no entry; its tag is the `type` on the wire."""


class ReadyFrame(AnswerFrame, frozen=True, kw_only=True, tag="ready"):
    """The replay is complete up to here."""

    last_seq: Count


class AckFrame(AnswerFrame, frozen=True, kw_only=True, tag="ack"):
    """The item is stored; `finish` and `give_up` have no entry of their own to name."""

    id: UUID
    seq: EntrySeq | UnsetType = UNSET
    receipt: AckReceipt | UnsetType = UNSET


class RefusedFrame(AnswerFrame, frozen=True, kw_only=True, tag="refused"):
    """The item is not stored, and why; final for its `id`."""

    id: UUID
    code: RefusalCode
    notice: str


class StatusFrame(AnswerFrame, frozen=True, kw_only=True, tag="status"):
    """Where the conversation stands, and what may be done now."""

    turn: Side
    free: bool
    messages: Count
    minimum: Count
    maximum: Count | None
    may_finish: bool
    must_finish: bool
    unlabeled: list[EntrySeq]
    slow: bool
    failed: bool
    may_retry: bool
    present: bool
    tab_is_newest: bool
    ended: bool


class PartialFrame(AnswerFrame, frozen=True, kw_only=True, tag="partial"):
    """What the partner's reply to entry `after` has grown to; "" where it vanishes."""

    after: Count
    text: str


class ErrorFrame(AnswerFrame, frozen=True, kw_only=True, tag="error"):
    """A problem that is no item's."""

    code: Literal["bad_frame", "busy", "too_fast"]
    notice: str
    complaint: Complaint | UnsetType = UNSET


class PongFrame(AnswerFrame, frozen=True, kw_only=True, tag="pong"):
    """The answer to `ping`."""


class SupersededFrame(AnswerFrame, frozen=True, kw_only=True, tag="superseded"):
    """A newer page of the same participation controls; this one may take over."""


class StepStatus(Struct, frozen=True, kw_only=True):
    """The step that a participation is on, and what a waiting page shows.

    `stamp` changes when the page is to be drawn anew. `position`, `seconds_waiting` and
    `seconds_left` are there while waiting, `seconds_left` and `ready` in a ready check. In READY
    they are those of the list of who waits for a place, with `seconds_left` where it is known.
    In a conversation and at a form `kept` says whether the place stays the person's, whoever comes;
    before their first work it may go to somebody who waits, in `seconds_left`.
    """

    state: Literal[
        "ADMISSION", "READY", "WAITING", "MATCHED", "CHATTING", "RATING", "WRITING", "ENDED"
    ]
    stamp: str
    screen: str
    notice: str
    choices: list[Literal["bot", "give_up"]]
    character: Count
    position: EntrySeq | UnsetType = UNSET
    seconds_waiting: Annotated[float, Meta(ge=0)] | UnsetType = UNSET
    seconds_left: Annotated[float, Meta(ge=0)] | UnsetType = UNSET
    ready: bool | UnsetType = UNSET
    kept: bool | UnsetType = UNSET


class StopMeaning(Struct, frozen=True):
    """What stopping now means for the pay."""

    text: str


class UnfinishedAnswers(Struct, frozen=True):
    """Answers so far, by the names of their fields."""

    answers: dict[str, str]


class DraftSaved(Struct, frozen=True):
    """Whether a draft was kept; false where it is too late for one."""

    saved: bool


class JsonProblem(Struct, frozen=True):
    """Why a request for JSON has no answer."""

    error: str


ENTRIES = MessageEntry | LabelEntry | StateEntry | NoticeEntry
ANSWERS = (
    ReadyFrame
    | AckFrame
    | RefusedFrame
    | StatusFrame
    | PartialFrame
    | ErrorFrame
    | PongFrame
    | SupersededFrame
)
