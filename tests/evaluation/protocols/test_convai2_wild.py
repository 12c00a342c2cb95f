"""CA-P2: free turns, labels that may be left out, 600 s, 1,000 messages, 1 to 5, the persona."""

from __future__ import annotations

import pytest

from evaluation import InvalidSetting, Shown
from evaluation.registry import get_protocol

PROTOCOL = get_protocol("convai2_wild")
PROFILE = ("I like to ride my red bike.", "My name is Jo.")


def test_volunteers_write_freely_until_600_seconds_or_1000_messages() -> None:
    chat = PROTOCOL.chat
    assert chat is not None
    assert (chat.partner, chat.turns, chat.idle, chat.maximum) == ("bot", "free", 600, 1000)
    assert PROTOCOL.change({"chat.idle": 30}).chat != chat
    for wrong in (29, 86_401):
        with pytest.raises(InvalidSetting, match=r"chat\.idle: "):
            PROTOCOL.change({"chat.idle": wrong})


def test_each_message_may_be_good_or_bad_and_none_has_to_be() -> None:
    live = PROTOCOL.live
    assert live is not None
    assert live.optional
    (good,) = live.each
    assert good.meanings() == {"1": "Good", "0": "Bad"}


def test_the_end_asks_for_one_to_five_and_the_persona() -> None:
    after = PROTOCOL.after
    assert after is not None
    raw = {"p.score": "5", "p.persona": "k2"}
    values = after.parse(raw, Shown(("p",), {"persona": ("k9", "k2")}))
    assert values == {("p", "score"): 5, ("p", "persona"): "k2"}
    assert after.each[0].scale == (1.0, 5.0)


@pytest.mark.parametrize(
    ("text", "is_copy"),
    [
        ("I like to ride my horse.", True),  # the first five words
        ("Yes, TO RIDE my, red BIKE!", True),  # the last five
        ("I like to ride a red bike.", False),  # four in a row
        ("My name is Jo.", False),  # a sentence of four words has no five
        ("ride my red bike my name", False),  # across two sentences
    ],
)
def test_the_bot_says_no_five_words_in_a_row_of_its_profile(text: str, is_copy: bool) -> None:
    chat = PROTOCOL.chat
    assert chat is not None
    assert (chat.partner_complaint(text, PROFILE) is not None) is is_copy
    assert chat.complaint(text, PROFILE) is None, "the volunteer may say what they like"
