"""The schema of every frame: one check for the socket and for HTTP (R24). docs/protocol.md has it.

A frame is a JSON object of a known `type` with exactly the fields of that type.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any
from uuid import UUID

from django.conf import settings

from webapp import notices

Frame = dict[str, Any]
DEPTH = 8
LARGEST = 2**53 - 1  # what a browser counts without error


class BadFrame(ValueError):
    """A frame that cannot be read. `id` is the item it was meant to be, where that is known."""

    def __init__(self, why: str, *, code: str = "bad_frame", item: str | None = None) -> None:
        super().__init__(why)
        self.code = code
        self.id = item


def _text(longest: int, shortest: int = 1) -> Callable[[object], object]:
    def check(value: object) -> str:
        if not isinstance(value, str) or not shortest <= len(value) <= longest:
            raise BadFrame(f"must be a text of {shortest} to {longest} characters")
        return value

    return check


def _whole(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= LARGEST:
        raise BadFrame(f"must be a whole number from 0 to {LARGEST}")
    return value


def _seq(value: object) -> int:
    if _whole(value) > 2**31 - 1:
        raise BadFrame(f"must be below {2**31}")
    return _whole(value)


def _uuid(value: object) -> UUID:
    if not isinstance(value, str) or len(value) != 36:
        raise BadFrame("must be a UUID of 36 characters")
    try:
        return UUID(value)
    except ValueError:
        raise BadFrame("must be a UUID of 36 characters") from None


SCHEMA: Mapping[str, Mapping[str, Callable[[object], object]]] = {
    "hello": {"last_seen": _seq, "tab": _text(36)},
    "sync": {"last_seen": _seq},
    "say": {"id": _uuid, "text": _text(settings.MAX_FRAME_BYTES, 0)},
    "label": {
        "id": _uuid,
        "seq": _seq,
        "question": _text(40),
        "value": _text(40),
        "revision": _whole,
    },
    "finish": {"id": _uuid},
    "retry": {"id": _uuid},
    "give_up": {"id": _uuid},
    "takeover": {"tab": _text(36)},
    "ping": {},
}


def parse(raw: str | bytes) -> Frame:
    """Return the frame with its values converted, or raise `BadFrame`."""
    frame = _object(raw)
    kind = frame.get("type")
    if not isinstance(kind, str) or kind not in SCHEMA:
        raise BadFrame(f"type: must be one of {', '.join(SCHEMA)}")
    fields = SCHEMA[kind]
    if frame.keys() != {"type", *fields}:
        raise BadFrame(f"{kind}: must have exactly the fields {', '.join(fields) or '(none)'}")
    parsed: Frame = {"type": kind}
    for name, check in fields.items():
        try:
            parsed[name] = check(frame[name])
        except BadFrame as bad:
            raise BadFrame(f"{name}: {bad}") from None
    for name, value in frame.items():
        _refuse_unstorable(name, value, parsed)
    return parsed


def _object(raw: str | bytes) -> Frame:
    size = len(raw) if isinstance(raw, bytes) else len(raw.encode("utf-8", "surrogatepass"))
    if size > settings.MAX_FRAME_BYTES:
        raise BadFrame(f"{size} bytes; a frame has at most {settings.MAX_FRAME_BYTES}")
    try:
        found = json.loads(raw, parse_constant=_no_constant, object_pairs_hook=_once)
    except BadFrame:
        raise
    except (ValueError, RecursionError):
        raise BadFrame("not JSON") from None
    if not isinstance(found, dict):
        raise BadFrame("must be an object")
    if _depth(found) > DEPTH:
        raise BadFrame(f"nested more than {DEPTH} deep")
    return found


def _no_constant(name: str) -> None:
    raise BadFrame(f"{name} is not JSON")


def _once(pairs: list[tuple[str, Any]]) -> Frame:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise BadFrame("a field is there twice")
    return found


def _depth(value: object) -> int:
    deepest, level = 0, [value]
    while level and deepest <= DEPTH:
        deepest += 1
        inner = [each for each in level if isinstance(each, dict | list)]
        level = [
            below for each in inner for below in (each.values() if isinstance(each, dict) else each)
        ]
    return deepest


def _refuse_unstorable(name: str, value: object, parsed: Frame) -> None:
    """Refuse NUL and lone surrogates; the writer of a message is told so."""
    if not isinstance(value, str):
        return
    if "\0" in value or any("\ud800" <= letter <= "\udfff" for letter in value):
        if parsed["type"] == "say" and name == "text":
            raise BadFrame("text: unstorable", code="bad_text", item=str(parsed["id"]))
        raise BadFrame(f"{name}: has characters that cannot be stored")


def refused(
    item: object, code: str, notice: str = "", values: Mapping[str, object] | None = None
) -> Frame:
    """Return the answer to an item that will not be accepted, however often it is sent."""
    text = notice or notices.text(code, **(values or {}))
    return {"type": "refused", "id": str(item), "code": code, "notice": text}


def error(code: str) -> Frame:
    """Return what is sent where something went wrong that no item is to blame for."""
    return {"type": "error", "code": code, "notice": notices.text(code)}


def answer_to(bad: BadFrame) -> Frame:
    """Return what is sent about a bad frame."""
    return error(bad.code) if bad.id is None else refused(bad.id, bad.code)
