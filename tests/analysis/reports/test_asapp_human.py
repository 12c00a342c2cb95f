"""ASAPP's table of people: grades by source, and what is acceptable."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from analysis import get_report, rendered
from analysis.stats.clustering import codes, share_intervals
from tests.analysis.examples import ratings

asapp_human = get_report("asapp_human")
GIVEN = {"clusters": [[2, 2, 1], [0, 1, 2], [2, 2, 2]], "agent": [[2, 2, 2], [1, 2, 2], [0, 0, 1]]}


def graded(given: dict[str, list[list[int]]], **common: object) -> list[dict[str, object]]:
    return [
        {"item": f"{system}{k}", "rater": f"r{j}", "value": grade, "system": system}
        for system, contexts in given.items()
        for k, votes in enumerate(contexts)
        for j, grade in enumerate(votes)
    ]


def test_shares_by_hand_and_accept_is_good_and_great() -> None:
    report = asapp_human(ratings(graded(GIVEN), question="grade"))
    frame: Any = report.sections[0].frame.set_index("source")
    assert list(frame.index) == ["agent", "clusters"], "in the order of accept, as printed"
    expected = {"great": 600 / 9, "good": 200 / 9, "bad": 100 / 9, "accept": 800 / 9}
    assert frame.loc["clusters", list(expected)].to_dict() == pytest.approx(expected)
    assert (frame.loc["agent", "contexts"], frame.loc["agent", "raters"]) == (3, 3)
    assert report.findings == (
        "clusters has the largest share of acceptable responses: 89 % of 2 sources.",
    )


def test_intervals_are_clustered_by_response_and_rater() -> None:
    table = ratings(graded(GIVEN), question="grade")
    shares = asapp_human(table).sections[1].frame
    parts = [part for _, part in table.groupby("system", sort=True)]
    ends = share_intervals(
        [
            (
                np.array(part["value"] > 0, dtype=float),
                [codes(part[by]) for by in ("item", "rater")],
            )
            for part in parts
        ]
    )
    accepted = shares[shares["grade"] == "accept"].set_index("source")
    for (low, high), name in zip(ends, ("agent", "clusters"), strict=True):
        assert tuple(accepted.loc[name, ["low", "high"]]) == pytest.approx((100 * low, 100 * high))


def test_accept_is_added_before_rounding() -> None:
    """As in print, where 55 and 21 are 77."""
    given = {"a": [[2] * 164 + [1] * 64 + [0] * 70]}
    row = asapp_human(ratings(graded(given), question="grade")).sections[0].frame.iloc[0]
    assert [round(row[name]) for name in ("great", "good", "accept")] == [55, 21, 77]


def test_the_scale_tells_the_grades() -> None:
    rows: list[dict[str, object]] = [{"value": 2}, {"value": 1}]
    known = asapp_human(ratings(rows, scale_low=0, scale_high=2))
    assert known.findings[0].startswith("s has the largest share")
    for wrong in (
        ratings(rows, scale_low=0, scale_high=3),
        ratings([{"value": 0}, {"value": 3}]),
        ratings(rows, level="nominal"),
    ):
        report = asapp_human(wrong)
        assert report.findings == ("No question is answered by grades from 0 to 2.",)
        assert "As printed: ASAPP whitelists (NLP4CONVAI 2019), table 7" in rendered(report)
