"""ME-P3, second half: five third parties a message, with the questions of the other MEENA forms."""

from __future__ import annotations

from evaluation.registry import get_protocol


def test_messages_of_others_are_judged_by_five_with_the_same_questions() -> None:
    protocol = get_protocol("meena_third_party")
    live = get_protocol("meena_interactive").live
    assert protocol.chat is None
    assert protocol.after is not None
    assert live is not None
    assert protocol.after.by_third_parties
    assert not live.by_third_parties
    assert (protocol.after.votes, protocol.after.each) == (5, live.each)
    names = [setting.name for setting in protocol.settings()]
    assert names == ["rate.votes", "rate.batch", "rate.sample"]
