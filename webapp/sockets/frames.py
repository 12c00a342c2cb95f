"""The frames of clients: one check for the socket and for HTTP (R24). docs/protocol.md has them.

A frame is a JSON object of a known `type` with exactly the fields of that type.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any, get_args
from uuid import UUID

from django.conf import settings
from msgspec import Meta, Struct, ValidationError, convert

from webapp import notices
from webapp.services.conversation.messages import UNSTORABLE
from webapp.sockets import version_1

VERSIONS = ("1", "2")  # of the wire; a page names its own, one drawn before version 2 names none
LONGEST = 200  # characters of a complaint: its frame may have named anything
Answer = dict[str, Any]  # a frame of the server's
Seq = Annotated[int, Meta(ge=0, le=2**31 - 1)]
Revision = Annotated[int, Meta(ge=0, le=2**53 - 1)]  # what a browser counts without error
Tab = Annotated[str, Meta(min_length=1, max_length=36)]
Name = Annotated[str, Meta(min_length=1, max_length=40)]


class Frame(Struct, frozen=True, forbid_unknown_fields=True):
    """A frame from a client; its tag is the `type` on the wire."""


class SentItem(Frame, frozen=True):
    """A frame that its client keeps until it is answered."""

    id: UUID


class Hello(Frame, frozen=True, tag="hello"):
    last_seq: Seq
    tab: Tab


class Sync(Frame, frozen=True, tag="sync"):
    last_seq: Seq


class Message(SentItem, frozen=True, tag="message"):
    text: str


class Label(SentItem, frozen=True, tag="label"):
    seq: Seq
    question: Name
    value: Name
    revision: Revision


class Finish(SentItem, frozen=True, tag="finish"): ...


class Retry(SentItem, frozen=True, tag="retry"): ...


class GiveUp(SentItem, frozen=True, tag="give_up"): ...


class Takeover(Frame, frozen=True, tag="takeover"):
    tab: Tab


class Ping(Frame, frozen=True, tag="ping"): ...


SCHEMA = Hello | Sync | Message | Label | Finish | Retry | GiveUp | Takeover | Ping
TYPES = tuple(each.__struct_config__.tag for each in get_args(SCHEMA))


class BadFrame(ValueError):
    """A frame that cannot be read. `id` is the item it was meant to be, where that is known."""

    def __init__(self, complaint: str, *, code: str = "bad_frame", item: str | None = None) -> None:
        super().__init__(complaint)
        self.code = code
        self.id = item


def check_version(version: str) -> str:
    """Return a page's version of the wire, "1" where it names none; raises `BadFrame`."""
    if (version or "1") not in VERSIONS:
        raise BadFrame(f"version: {version[:20]!r} is not one of {', '.join(VERSIONS)}")
    return version or "1"


def parse(raw: str | bytes, version: str = VERSIONS[-1]) -> Frame:
    """Return the frame with its values converted; raises `BadFrame`."""
    found = json_object(raw)
    if version == "1":
        found = version_1.renewed(found)
    try:
        frame: Frame = convert(found, SCHEMA)
    except ValidationError as problem:
        raise BadFrame(_complaint(str(problem), found)) from None
    except UnicodeEncodeError:
        raise BadFrame(f"{_odd_field(found)}: has characters that cannot be stored") from None
    if isinstance(frame, SentItem) and len(found["id"]) != 36:
        raise BadFrame(f"id: {found['id']!r:.60} must be a UUID of 36 characters")
    for name, value in found.items():
        if isinstance(value, str) and UNSTORABLE.search(value):
            if isinstance(frame, Message):  # of its fields only the text can; its writer is told
                raise BadFrame("text: unstorable", code="bad_text", item=str(frame.id))
            raise BadFrame(f"{name}: has characters that cannot be stored")
    return frame


def _odd_field(found: Mapping[str, Any]) -> str:
    """Return the name of the first field that has a lone surrogate, in its name or its value."""
    named = (name for name, value in found.items() if _is_odd(name) or _is_odd(value))
    return ascii(next(named, "a field")).strip("'")


def _is_odd(value: object) -> bool:
    return isinstance(value, str) and any("\ud800" <= letter <= "\udfff" for letter in value)


def _complaint(problem: str, found: Mapping[str, Any]) -> str:
    field = problem.rpartition("`$.")[2].rstrip("`")
    if field == "type":
        return f"type: {found['type']!r:.40} must be one of {', '.join(TYPES)}"
    return f"{problem}, it is {found[field]!r:.40}" if field in found else problem


def json_object(raw: str | bytes) -> dict[str, Any]:
    """Return an object of JSON that is neither too large nor ambiguous; raises `BadFrame`."""
    size = len(raw) if isinstance(raw, bytes) else len(raw.encode("utf-8", "surrogatepass"))
    if size > settings.MAX_FRAME_BYTES:
        raise BadFrame(f"{size} bytes; a frame has at most {settings.MAX_FRAME_BYTES}")
    try:
        found = json.loads(raw, parse_constant=_no_constant, object_pairs_hook=_once)
    except (ValueError, RecursionError) as problem:
        raise BadFrame(f"not JSON: {problem}") from None
    if not isinstance(found, dict):
        raise BadFrame("must be an object")
    return found


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no number")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise ValueError(f"the field {name!r:.40} is there twice")
        found[name] = value
    return found


def refused(
    item: object, code: str, notice: str = "", values: Mapping[str, object] | None = None
) -> Answer:
    """Return the answer to an item that will not be accepted, however often it is sent."""
    text = notice or notices.text(code, **(values or {}))
    return {"type": "refused", "id": str(item), "code": code, "notice": text}


def error(code: str) -> Answer:
    """Return the frame about a problem that is no item's."""
    return {"type": "error", "code": code, "notice": notices.text(code)}


def answer_to(bad: BadFrame) -> Answer:
    """Return the answer to a bad frame, with what is wrong in it, for who writes a client."""
    if bad.id is not None:
        return refused(bad.id, bad.code)
    return {**error(bad.code), "complaint": str(bad)[:LONGEST]}
