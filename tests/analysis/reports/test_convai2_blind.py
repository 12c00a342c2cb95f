"""Blind judges beside those who chatted, on the same conversations only."""

from __future__ import annotations

import pytest

from analysis import get_report
from tests.analysis.examples import ratings

convai2_blind = get_report("convai2_blind")


def _row(protocol: str, talk: int, system: str, rater: str, value: int) -> dict[str, object]:
    about = {"protocol": protocol, "item": f"{protocol}{talk}", "conversation": str(talk)}
    return {**about, "system": system, "rater": rater, "value": value, "question": "enjoyment"}


ROWS = [
    *(_row("crowd", k, "a" if k < 3 else "b", f"w{k}", v) for k, v in enumerate([4, 3, 1, 2, 1])),
    *(_row("blind_review", k, "a" if k < 3 else "b", "x", v) for k, v in ((0, 3), (1, 2), (3, 1))),
    *(_row("blind_review", k, "a" if k < 3 else "b", "y", v) for k, v in ((0, 2), (1, 1), (3, 3))),
]


def test_means_are_over_the_conversations_that_were_judged_blindly() -> None:
    report = convai2_blind(ratings(ROWS))
    table = report.sections[0].frame.set_index("judge")
    assert table.loc["the people who chatted"].to_dict() == {"a": 3.5, "b": 2.0, "conversations": 3}
    assert table.loc["blind: x"].to_dict() == {"a": 2.5, "b": 1.0, "conversations": 3}
    assert report.findings == ("Not all judges put the 2 systems in the same order.",)
    gaps = report.sections[1].frame.set_index("system")
    assert gaps.loc["a", "blind less workers"] == pytest.approx(-1.5)
    assert gaps.loc["b", "reason"] == "fewer than two values per side"
    assert "Blind Annotator 1" in set(report.sections[2].frame["judge"])


def test_without_blind_judges_only_the_print_is_left() -> None:
    report = convai2_blind(ratings(ROWS[:5]))
    assert len(report.sections) == 1
    assert report.findings[0].startswith("No conversation has a score from")
