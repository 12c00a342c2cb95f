"""Real conversations from an optional package."""

from __future__ import annotations

import pytest

from bots.guards.filters import unsafe
from bots.line_files import InvalidData

pytest.importorskip("chitchat_dataset", reason="the extra chitchat is not installed")

from bots.datasets import chitchat


def test_reads_conversations_of_two_that_are_safe() -> None:
    chats = chitchat.read("300")
    assert len(chats) == 300
    assert all(len(chat.turns) >= chitchat.LEAST for chat in chats)
    assert all({turn.speaker for turn in chat.turns} == {"self", "partner"} for chat in chats)
    assert not [turn.text for chat in chats for turn in chat.turns if unsafe(turn.text)]


def test_a_chat_is_cut_at_the_first_unsafe_turn() -> None:
    def piece(sender: str, text: str) -> list[dict[str, str]]:
        return [{"sender": sender, "text": text}]

    kind = [piece("ab"[place % 2], f"Line {place}") for place in range(4)]
    raw = {"messages": [*kind, piece("a", "you idiot"), piece("b", "Sorry?")]}
    (chat,) = chitchat._dialogue("x", raw)
    assert [turn.text for turn in chat.turns] == ["Line 0", "Line 1", "Line 2", "Line 3"]
    assert not list(chitchat._dialogue("x", {"messages": raw["messages"][2:]}))
    assert not list(chitchat._dialogue("x", {"messages": [piece("a", "Hi")] * 5}))


def test_a_source_that_is_no_number_is_refused() -> None:
    with pytest.raises(InvalidData, match="chitchat:train"):
        chitchat.read("train")
