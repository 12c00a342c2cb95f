"""CA-P4, third phase: the chat of PERSONA-CHAT, without a word of rating."""

from __future__ import annotations

from evaluation.registry import get_protocol


def test_the_chat_is_that_of_personachat_and_nobody_rates() -> None:
    hidden, original = (
        get_protocol(name) for name in ("convai2_hidden_chats", "personachat_human")
    )
    assert hidden.chat == original.chat
    assert hidden.rates == ()
    assert hidden.instructions == original.instructions[:3]
