"""The schema of frames: what is read, and what is refused."""

from __future__ import annotations

import json
import random
import re
from uuid import UUID, uuid4

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from webapp.sockets import frames

ITEM = str(uuid4())


def test_frames_are_read_with_their_values_converted() -> None:
    message = frames.parse(json.dumps({"type": "message", "id": ITEM, "text": "Hi!"}))
    assert message == frames.Message(id=UUID(ITEM), text="Hi!")
    assert frames.parse(b'{"type": "ping"}') == frames.Ping()


BAD = {
    "not JSON": "{",
    "an array": "[]",
    "a number": "1",
    "no type": "{}",
    "an unknown type": '{"type": "hint", "conversation": 1, "seq": 2}',
    "a type that is no text": '{"type": ["ping"]}',
    "a field too many": '{"type": "ping", "x": 1}',
    "a field too few": '{"type": "hello", "tab": "t"}',
    "a field twice": '{"type": "sync", "last_seq": 1, "last_seq": 2}',
    "NaN": '{"type": "sync", "last_seq": NaN}',
    "infinity": '{"type": "sync", "last_seq": Infinity}',
    "a huge number": '{"type": "sync", "last_seq": ' + "9" * 5000 + "}",
    "a negative number": '{"type": "sync", "last_seq": -1}',
    "a seq that no database has": '{"type": "sync", "last_seq": 2147483648}',
    "true for a number": '{"type": "sync", "last_seq": true}',
    "no UUID": '{"type": "finish", "id": "7"}',
    "NUL": '{"type": "hello", "last_seq": 0, "tab": "a\\u0000"}',
    "a lone surrogate": '{"type": "hello", "last_seq": 0, "tab": "\\ud800"}',
    "deep nesting": '{"type": "message", "id": "x", "text": ' + "[" * 9 + "]" * 9 + "}",
    "very deep nesting": "[" * 30_000 + "]" * 30_000,
    "too large": '{"type": "message", "text": "' + "x" * 66_000 + '"}',
}


@pytest.mark.parametrize("raw", BAD.values(), ids=BAD.keys())
def test_bad_frames_are_refused(raw: str) -> None:
    """R24."""
    for form in (raw, raw.encode()):
        with pytest.raises(frames.BadFrame) as bad:
            frames.parse(form)
        assert frames.answer_to(bad.value)["code"] == "bad_frame"


COMPLAINTS = {
    '{"type": "hint"}': "type: 'hint' must be one of hello, sync, message, label, finish",
    '{"type": "sync", "last_seq": -1}': "Expected `int` >= 0 - at `$.last_seq`, it is -1",
    '{"type": "sync", "last_seq": 2147483648}': "<= 2147483647 - at `$.last_seq`, it is 2147483648",
    '{"type": "takeover", "tab": "' + "t" * 37 + '"}': "length <= 36 - at `$.tab`, it is 'ttt",
    '{"type": "ping", "x": 1}': "unknown field `x`",
    '{"type": "ping", "type": "ping"}': "the field 'type' is there twice",
    '{"type": "hello", "tab": "t"}': "missing required field `last_seq`",
    '{"type": "finish", "id": "7"}': "Invalid UUID - at `$.id`, it is '7'",
    '{"type": "finish", "id": "' + "7" * 32 + '"}': "must be a UUID of 36 characters",
}


@pytest.mark.parametrize(("raw", "complaint"), COMPLAINTS.items())
def test_a_complaint_names_the_field_its_value_and_what_would_be_right(
    raw: str, complaint: str
) -> None:
    with pytest.raises(frames.BadFrame, match=re.escape(complaint)) as bad:
        frames.parse(raw)
    assert complaint in frames.answer_to(bad.value)["complaint"]


def test_a_complaint_has_an_end_whatever_a_frame_names() -> None:
    with pytest.raises(frames.BadFrame) as bad:
        frames.parse(json.dumps({"type": "ping", "x" * 5000: 1}))
    assert len(frames.answer_to(bad.value)["complaint"]) == frames.LONGEST


@pytest.mark.parametrize(
    ("field", "right", "wrong"),
    [("last_seq", 2**31 - 1, 2**31), ("tab", "t" * 36, "t" * 37), ("tab", "t", "")],
)
def test_limits_hold_to_the_last_value(field: str, right: object, wrong: object) -> None:
    hello = {"type": "hello", "last_seq": 0, "tab": "t"}
    frames.parse(json.dumps(hello | {field: right}))
    with pytest.raises(frames.BadFrame, match=field):
        frames.parse(json.dumps(hello | {field: wrong}))


@pytest.mark.parametrize("text", ["a\0", "\ud83d"])
def test_who_wrote_what_cannot_be_stored_is_told_so(text: str) -> None:
    with pytest.raises(frames.BadFrame) as bad:
        frames.parse(json.dumps({"type": "message", "id": ITEM, "text": text}))
    answer = frames.answer_to(bad.value)
    assert (answer["type"], answer["id"], answer["code"]) == ("refused", ITEM, "bad_text")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=9,
)
FIELDS = ("last_seq", "tab", "id", "text", "seq", "value", "question", "x")
NAMES = st.sampled_from(FIELDS)


@settings(max_examples=300, deadline=None)
@given(st.sampled_from([*frames.TYPES, "hint"]), st.dictionaries(NAMES, JSON, max_size=6))
def test_whatever_comes_is_a_frame_or_a_bad_frame(kind: str, fields: dict[str, object]) -> None:
    """G9, in little."""
    _parsed_or_refused(kind, fields)


def odd(chance: random.Random, depth: int = 0) -> object:
    """Return some JSON: at times what frames have, at times nested more deeply than they may."""
    kind = chance.randrange(10 if depth < 12 else 7)
    if kind > 6:
        inner = [odd(chance, depth + 1) for _ in range(chance.randrange(3))]
        return inner if kind == 9 else {str(number): each for number, each in enumerate(inner)}
    return (ITEM, "a\0", "\ud83d", chance.randint(-3, 2**70), None, True, "x" * 9_000)[kind]


@pytest.mark.parametrize("count", [20_000, pytest.param(100_000, marks=pytest.mark.slow)])
def test_so_are_thousands(count: int) -> None:
    """G9."""
    chance, names, kinds = random.Random(count), [*FIELDS], [*frames.TYPES, "hint"]
    for _ in range(count):
        some = chance.sample(names, chance.randrange(len(names)))
        _parsed_or_refused(chance.choice(kinds), {name: odd(chance) for name in some})


def _parsed_or_refused(kind: str, fields: dict[str, object]) -> None:
    try:
        parsed = frames.parse(json.dumps({"type": kind, **fields}))
    except frames.BadFrame:
        return
    assert parsed.__struct_config__.tag == kind
    assert set(parsed.__struct_fields__) == fields.keys()


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=200))
def test_whatever_bytes_come_nothing_else_is_raised(raw: bytes) -> None:
    with pytest.raises(frames.BadFrame):
        frames.parse(raw)
