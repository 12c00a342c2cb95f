"""CA-P1b: three scales, a reason in words after each, and the persona last."""

from __future__ import annotations

import pytest

from evaluation import InvalidAnswers, InvalidSetting, Shown
from evaluation.registry import get_protocol

PROTOCOL = get_protocol("convai2_crowd_reasons")
SCALES = ("fluency", "engagingness", "consistency")
SHOWN = Shown(("p",), {"persona": ("k9", "k2")})
ANSWERS = {
    **{f"p.{name}": "3" for name in SCALES},
    **{f"p.{name}_reason": "Because it was so." for name in SCALES},
    "p.persona": "k9",
}


def test_each_scale_is_followed_by_its_reason_and_the_persona_comes_last() -> None:
    assert PROTOCOL.after is not None
    pairs = [name for scale in SCALES for name in (scale, f"{scale}_reason")]
    assert [question.name for question in PROTOCOL.after.each] == [*pairs, "persona"]


def test_the_scales_are_those_of_personachat() -> None:
    other = get_protocol("personachat_bot").after
    assert PROTOCOL.after is not None
    assert other is not None
    asked = [question for question in PROTOCOL.after.each if question.level != "text"]
    assert tuple(asked) == other.each


@pytest.mark.parametrize("name", SCALES)
def test_no_reason_may_be_left_out(name: str) -> None:
    assert PROTOCOL.after is not None
    assert PROTOCOL.after.parse(ANSWERS, SHOWN)["p", f"{name}_reason"] == "Because it was so."
    with pytest.raises(InvalidAnswers) as refused:
        PROTOCOL.after.parse(ANSWERS | {f"p.{name}_reason": " "}, SHOWN)
    assert refused.value.problems == {
        f"p.{name}_reason": "Write an answer: at most 1000 characters."
    }


def test_six_turns_each_at_least_and_three_to_twenty_words() -> None:
    chat = PROTOCOL.chat
    assert chat is not None
    assert (chat.minimum.options, chat.maximum) == ((12,), None)
    words = {count: chat.complaint("word " * count, ()) is None for count in (2, 3, 20, 21)}
    assert words == {2: False, 3: True, 20: True, 21: False}


def test_the_fewest_words_cannot_be_more_than_the_most() -> None:
    chat = PROTOCOL.change({"chat.min_words.limit": 20}).chat
    assert chat is not None
    assert [chat.complaint("word " * count, ()) is None for count in (19, 20)] == [False, True]
    with pytest.raises(InvalidSetting, match=r"chat\.min_words\.limit: “21”.*write 20 or less"):
        PROTOCOL.change({"chat.min_words.limit": 21})
    with pytest.raises(InvalidSetting, match=r"chat\.min_words\.limit: “3”.*write 2 or less"):
        PROTOCOL.change({"chat.max_words.limit": 2})
