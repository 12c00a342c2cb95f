"""NL-P11: two sheets of one group, of which each side knows its own; no topic, and no questions."""

from __future__ import annotations

from evaluation.registry import get_protocol


def test_both_sheets_are_of_one_group_and_nothing_else_is_told_or_asked() -> None:
    protocol = get_protocol("student_advisor")
    assert protocol.chat is not None
    assert protocol.chat.brief is not None
    assert protocol.chat.brief.one_group
    assert protocol.chat.brief.topics_for("any") == ()
    assert (protocol.rates, protocol.screening, protocol.quiz) == ((), None, None)
