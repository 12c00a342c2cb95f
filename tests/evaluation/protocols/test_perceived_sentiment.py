"""NL-P7: the sentiment of one response, as five annotators of the same items perceive it."""

from __future__ import annotations

import pytest

from evaluation import InvalidAnswers, Shown
from evaluation.registry import get_protocol

PROTOCOL = get_protocol("perceived_sentiment")


def test_five_annotators_get_all_three_hundred_responses() -> None:
    after = PROTOCOL.after
    assert after is not None
    assert (after.over, after.show, after.votes, after.batch) == ("contexts", "one", 5, 300)
    assert after.votes * after.batch == 1500


@pytest.mark.parametrize("mood", ["positive", "negative", "neutral"])
def test_three_sentiments(mood: str) -> None:
    after = PROTOCOL.after
    assert after is not None
    assert after.each[0].level == "nominal"
    assert after.parse({"r.sentiment": mood}, Shown(("r",))) == {("r", "sentiment"): mood}
    with pytest.raises(InvalidAnswers, match="Choose one of the three"):
        after.parse({"r.sentiment": f"{mood}s"}, Shown(("r",)))
