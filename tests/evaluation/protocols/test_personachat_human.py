"""PC-P5: the same form as PC-P4, with a person as the partner."""

from __future__ import annotations

from evaluation.registry import get_protocol


def test_the_form_and_the_limits_are_those_of_the_bot_evaluation() -> None:
    human, bot = get_protocol("personachat_human"), get_protocol("personachat_bot")
    assert human.after == bot.after
    assert human.instructions is bot.instructions
    assert human.chat is not None
    assert bot.chat is not None
    assert (human.chat.partner, human.chat.told) == ("person", bot.chat.told)
    assert (human.chat.minimum, human.chat.checks) == (bot.chat.minimum, bot.chat.checks)
    assert human.chat.pace == 0
