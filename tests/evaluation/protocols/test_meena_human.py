"""ME-P3, first half: two people chat, and nothing is asked of them."""

from __future__ import annotations

from evaluation.registry import get_protocol


def test_people_are_told_of_a_person_and_chat_as_long_as_with_a_bot() -> None:
    human, bot = get_protocol("meena_human"), get_protocol("meena_interactive")
    assert human.chat is not None
    assert bot.chat is not None
    assert (human.chat.partner, human.chat.pool, human.rates) == ("person", "", ())
    assert (human.chat.minimum, human.chat.maximum) == (bot.chat.minimum, bot.chat.maximum)
    assert "person" in human.chat.told
