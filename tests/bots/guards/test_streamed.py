"""Chunks of a streamed answer: what is none is refused, whatever a server sends."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bots.guards.streamed import StreamedAnswer


def chunk(**delta: object) -> dict[str, Any]:
    return {"model": "m", "choices": [{"index": 0, "delta": delta}]}


def test_parts_are_joined_until_the_answer_is_whole() -> None:
    answer = StreamedAnswer()
    empty: dict[str, Any] = {"choices": []}
    for part in (chunk(content="Good "), chunk(content="day."), empty, {}):
        answer.take(json.dumps(part).encode())
    assert not answer.is_whole
    answer.take(json.dumps({"choices": [{"finish_reason": "stop"}]}).encode())
    assert (answer.text, answer.is_whole) == ("Good day.", True)


@pytest.mark.parametrize(
    "wrong",
    [
        "[]",
        "3",
        "no",
        '{"choices": 3}',
        '{"choices": {"index": 0}}',
        '{"choices": ["Good day."]}',
        '{"choices": [{"index": 0, "delta": "Good day."}]}',
        '{"choices": [{"index": 0, "delta": ["Good day."]}]}',
        "[" * 100_000,
    ],
)
def test_what_is_no_chunk_is_refused(wrong: str) -> None:
    answer = StreamedAnswer()
    with pytest.raises(ValueError, match=r"chunk|Expecting"):
        answer.take(wrong.encode())
    assert answer.text == ""
