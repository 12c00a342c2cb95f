"""Counts of systems' calls in the summary: what people cannot see in what they rate."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd

from analysis.conversations import reply_events
from tests.analysis.planned import study

COLUMNS = ["system", "calls", "shown", "refused", "failed", "troubled"]
COLUMNS += ["empty", "cut", "filtered", "canned", "reasoned", "altered"]


def counted(*rows: tuple[str | int, ...]) -> pd.DataFrame:
    return pd.DataFrame([map(str, row) for row in rows], columns=COLUMNS)


def test_trouble_is_told_by_system_and_what_nobody_met_is_left_out() -> None:
    replies = counted(
        ("a", 40, 39, 0, 1, 2, 1, 1, 0, 0, 5, 0), ("b", 10, 8, 0, 2, 3, 2, 0, 0, 1, 0, 0)
    )
    (section,) = reply_events.sections(replace(study(), replies=replies))
    assert section.title == "5 of 50 calls of systems met trouble, most with b: 3 of 10"
    assert list(section.frame) == [
        *("system", "calls", "shown", "failed", "empty", "cut", "filtered", "canned"),
        *("reasoned", "troubled", "share troubled"),
    ]
    assert section.frame["share troubled"].tolist() == ["5%", "30%"]
    assert section.frame["reasoned"].tolist() == [5, 0]


def test_a_study_without_calls_says_nothing_and_one_without_trouble_says_so() -> None:
    assert list(reply_events.sections(study())) == []
    assert list(reply_events.sections(None)) == []
    well = counted(("a", 12, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0))
    (section,) = reply_events.sections(replace(study(), replies=well))
    assert section.title.startswith("None of 12 calls of systems failed")
