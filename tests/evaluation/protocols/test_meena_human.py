"""ME-P3, first half: two people chat, and nothing is asked of them."""

from __future__ import annotations

from evaluation.registry import get_protocol


def test_people_are_told_of_a_person_and_a_human_opens_for_16_to_32_messages() -> None:
    protocol = get_protocol("meena_human")
    chat = protocol.chat
    assert chat is not None
    assert (chat.partner, chat.pool, protocol.rates) == ("person", "", ())
    assert (chat.first, chat.opening) == ("participant", "")
    assert (chat.minimum.options, chat.maximum) == ((16,), 32)
    assert "person" in chat.told
    assert "“Hi!”" in protocol.instructions[0]


def test_both_lengths_come_from_the_appendix() -> None:
    """Section 2.3, which the bots' conversations follow, has 14 to 28."""
    sources = get_protocol("meena_human").sources
    wheres = [sources[name].where for name in ("chat.minimum", "chat.maximum")]
    assert all(where.startswith("appendix A") for where in wheres)
