"""CA-P4, first phase: a hundred personas, all of them for test."""

from __future__ import annotations

from evaluation.registry import get_protocol


def test_all_hundred_are_for_test_and_asked_for_as_in_personachat() -> None:
    hidden, original = (
        get_protocol(name) for name in ("convai2_hidden_personas", "personachat_personas")
    )
    assert hidden.write is not None
    assert original.write is not None
    assert (hidden.write.count, hidden.write.valid, hidden.write.test) == (100, 0, 100)
    assert hidden.instructions == original.instructions
    assert hidden.write.checks == original.write.checks
