"""ME-P2: told it is a bot, the bot opens, 14 to 28 messages, labels while chatting."""

from __future__ import annotations

import pytest

from evaluation import InvalidAnswers, InvalidSetting, Shown
from evaluation.registry import get_protocol

PROTOCOL = get_protocol("meena_interactive")


def test_the_participant_is_told_and_the_bot_opens() -> None:
    chat = PROTOCOL.chat
    assert chat is not None
    assert "chatbot" in chat.told
    assert (chat.first, chat.opening) == ("partner", "Hi!")
    assert (chat.minimum.options, chat.maximum) == ((14,), 28)


def test_not_sensible_is_never_specific() -> None:
    live, shown = PROTOCOL.live, Shown(("m1",))
    assert live is not None
    assert live.parse({"m1.sensible": "0"}, shown) == {("m1", "sensible"): 0, ("m1", "specific"): 0}
    with pytest.raises(InvalidAnswers, match="specific"):
        live.parse({"m1.sensible": "0", "m1.specific": "1"}, shown)
    with pytest.raises(InvalidAnswers, match="specific"):
        live.parse({"m1.sensible": "1"}, shown)


def test_the_maximum_cannot_be_below_the_minimum() -> None:
    with pytest.raises(InvalidSetting, match=r"chat\.maximum: “10” is below the minimum; write 14"):
        PROTOCOL.change({"chat.maximum": 10})
