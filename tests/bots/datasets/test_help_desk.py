"""The synthetic help desk."""

from __future__ import annotations

from collections import Counter

import pytest

from bots.datasets import help_desk
from bots.guards.filters import unsafe
from bots.line_files import InvalidData
from bots.text.tokens import key


def test_the_seed_decides_every_word() -> None:
    assert help_desk.read("30:4") == help_desk.read("30:4")
    assert help_desk.read("30:4") != help_desk.read("30:5")
    assert help_desk.read("") == help_desk.read("200:0")
    assert help_desk.read("30:4")[:10] == help_desk.read("10:4")


def test_frequent_replies_cover_a_part_and_others_occur_once() -> None:
    replies = Counter(
        key(turn.text)
        for chat in help_desk.read("2000:1")
        for turn in chat.turns
        if turn.speaker == "self"
    )
    top = sum(times for _, times in replies.most_common(20)) / replies.total()
    assert 0.6 < top < 0.95
    once = sum(times == 1 for times in replies.values())
    assert once > 100


def test_chats_are_whole_and_clean() -> None:
    chats = help_desk.read("300:2")
    assert {chat.turns[0].speaker for chat in chats} == {"self"}
    assert all(9 <= len(chat.turns) <= 15 for chat in chats)
    texts = {turn.text for chat in chats for turn in chat.turns}
    assert not [text for text in texts if "{" in text or unsafe(text)]


@pytest.mark.parametrize("source", ["no", "0", "-3", "10:x", "99999999"])
def test_other_sources_are_refused(source: str) -> None:
    with pytest.raises(InvalidData, match="must be how many chats"):
        help_desk.read(source)
