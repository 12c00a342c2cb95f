"""NL-P12: no questions, no end, nothing to be set, turns free."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from evaluation import Likert, Rate
from evaluation.registry import get_protocol
from evaluation.soundness import complaints

PROTOCOL = get_protocol("live_engagement")


def test_nothing_is_asked_and_nobody_finishes() -> None:
    chat = PROTOCOL.chat
    assert chat is not None
    assert (PROTOCOL.rates, chat.endless, chat.turns) == ((), True, "free")
    assert {setting.name for setting in PROTOCOL.settings()} == {"chat.pace"}


@pytest.mark.parametrize(
    ("field", "changes"),
    [
        ("chat.endless", {"maximum": 10}),
        ("chat.endless", {"idle": 600}),
        ("chat.endless", {"partner": "either", "turns": "alternate"}),
        ("chat.turns", {"partner": "either", "endless": False}),
        ("chat.idle", {"idle": -1}),
    ],
)
def test_what_no_endless_or_free_chat_can_have_is_named(field: str, changes: Any) -> None:
    assert PROTOCOL.chat is not None
    chat = dataclasses.replace(PROTOCOL.chat, **changes)
    wrong = dict(complaints(dataclasses.replace(PROTOCOL, steps=(chat,))))
    assert field in wrong


def test_questions_that_nobody_comes_to_are_named() -> None:
    assert PROTOCOL.chat is not None
    rate = Rate(each=(Likert.sample(),))
    wrong = dict(complaints(dataclasses.replace(PROTOCOL, steps=(PROTOCOL.chat, rate))))
    assert list(wrong) == ["chat.endless"]


def test_labels_can_be_left_out_while_chatting_only() -> None:
    with pytest.raises(ValueError, match="optional"):
        Rate(each=(Likert.sample(),), optional=True)
