"""PM-P1: two characters of one series, a topic that opens the conversation, who has watched it."""

from __future__ import annotations

import pytest

from evaluation import InvalidSetting
from evaluation.registry import get_protocol
from evaluation.words import Translated

ROLE_PLAY = get_protocol("role_play")


def test_only_who_has_watched_the_series_plays_and_says_how_much_of_it() -> None:
    screening = ROLE_PLAY.screening
    assert screening is not None
    seen = screening.parse({"screening.watched": "1", "screening.episodes": "1"})
    assert screening.wrong(seen) == [], "more than ten episodes is reported, not asked for"
    assert screening.wrong(screening.parse({"screening.watched": "0"})) == ["watched"]


def test_there_are_eighteen_general_topics_and_those_of_a_series_are_its_own() -> None:
    chat = ROLE_PLAY.chat
    assert chat is not None
    assert chat.brief is not None
    assert len(chat.brief.topics) == 18
    topics = [*chat.brief.topics, "Harbor Street | the storm", "Night Shift | the crash"]
    changed = ROLE_PLAY.change({"chat.brief.topics": topics}).chat
    assert changed is not None
    assert changed.brief is not None
    assert changed.brief.topics_for("Harbor Street")[18:] == ("the storm",)
    assert len(changed.brief.topics_for("Another series")) == 18


def test_a_topic_is_told_in_the_language_of_the_page_and_else_as_it_was_drawn() -> None:
    changed = ROLE_PLAY.change({"chat.brief.topics": ["tea", "Harbor Street | the storm"]})
    labels = {"chat.brief.topics.2": "Harbor Street | der Sturm"}
    source, shown = changed.chat, changed.in_language("de", labels).chat
    assert source is not None
    assert shown is not None
    assert source.brief is not None
    assert shown.brief is not None
    found = shown.brief.topic_like("the storm", source.brief)
    assert found == "der Sturm"
    assert isinstance(found, Translated)
    assert [shown.brief.topic_like(each, source.brief) for each in ("tea", "ice")] == ["tea", "ice"]


@pytest.mark.parametrize("count", [200, 201])
def test_there_is_a_most_of_topics(count: int) -> None:
    topics = [f"topic {number}" for number in range(count)]
    if count == 200:
        assert ROLE_PLAY.change({"chat.brief.topics": topics}) != ROLE_PLAY
        return
    with pytest.raises(InvalidSetting, match="has 201 lines; write at most 200"):
        ROLE_PLAY.change({"chat.brief.topics": topics})


def test_a_topic_has_at_most_so_many_characters() -> None:
    assert ROLE_PLAY.change({"chat.brief.topics": ["x" * 200]}) != ROLE_PLAY
    with pytest.raises(InvalidSetting, match="has 201 characters"):
        ROLE_PLAY.change({"chat.brief.topics": ["x" * 201]})
