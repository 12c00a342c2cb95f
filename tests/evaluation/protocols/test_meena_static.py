"""ME-P1: five raters an item, no chat."""

from __future__ import annotations

from evaluation.registry import get_protocol


def test_an_item_is_a_reply_to_a_context_and_goes_to_five_raters() -> None:
    protocol = get_protocol("meena_static")
    assert protocol.chat is None
    assert protocol.after is not None
    assert (protocol.after.over, protocol.after.votes) == ("contexts", 5)
    assert [question.name for question in protocol.after.each] == ["sensible", "specific"]
