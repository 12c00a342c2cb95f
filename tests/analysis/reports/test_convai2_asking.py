"""The report of asking and answering: each side in a row, and the shares by turn."""

from __future__ import annotations

from analysis import get_report
from tests.analysis.metrics.test_asking import ANSWERS, ASKS
from tests.analysis.samples import EMPTY
from tests.analysis.talks import talks

convai2_asking = get_report("convai2_asking")


def test_both_sides_and_the_turns() -> None:
    report = convai2_asking(talks([ASKS, ANSWERS]))
    table, turns = (section.frame for section in report.sections)
    assert table["side"].tolist() == ["model", "human", "model", "human"]
    assert table["balance"].tolist() == [1, 1, 0, 1]
    # Partners only ask, one conversation each: 1 away from a side that only answers.
    assert table["distance to people"].tolist() == [0, 0, 1, 0]
    assert report.findings == (
        "t is furthest from how people ask and answer, by 1.00: it answers more (balance 0.00).",
    )
    own = turns[turns["side"] == "model"].set_index(["system", "turn"])["asks"]
    assert own.to_dict() == {("s", 1): 1, ("s", 2): 1, ("t", 1): 0, ("t", 2): 0}


def test_without_messages_there_is_a_sentence() -> None:
    assert convai2_asking(EMPTY["messages"]).findings[0].startswith("No conversation")
