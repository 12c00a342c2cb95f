"""L2E's normalized rank: 0 for the top, averaged over a participant's prompts first."""

from __future__ import annotations

import pytest
from scipy import stats

from analysis.metrics.explanation_rank import explanation_rank
from tests.analysis.examples import cell
from tests.analysis.preferring import preferring


def test_the_top_is_0_and_the_bottom_1_whatever_their_number() -> None:
    acts = [("p", "w", ["a", "b", "c"], [1, 2, 3]), ("q", "v", ["a", "b"], [1, 2])]
    found = explanation_rank(preferring(acts)).set_index("system")
    assert [cell(found, s, "estimate") for s in "abc"] == pytest.approx([0.0, 0.75, 1.0])


def test_participants_count_alike_however_many_prompts_they_have() -> None:
    acts = [(f"p{k}", "w", ["a", "b"], [1, 2]) for k in range(9)]
    acts.append(("q", "v", ["a", "b"], [2, 1]))
    found = explanation_rank(preferring(acts)).set_index("system")
    assert cell(found, "a", "estimate") == pytest.approx(0.5)
    assert int(found["n"].iloc[0]) == 2
    assert (cell(found, "a", "low"), cell(found, "a", "high")) == (0.0, 1.0)
    ends = ("percentile_low", "percentile_high")
    assert tuple(cell(found, "a", name) for name in ends) == (0.0, 1.0)


def test_the_interval_is_student_s_over_participants() -> None:
    acts = [(f"p{k}", f"w{k}", ["a", "b"], [1 + k % 2, 2 - k % 2]) for k in range(6)]
    found = explanation_rank(preferring(acts)).set_index("system")
    known = stats.t.interval(0.95, 5, 0.5, stats.sem([0, 1, 0, 1, 0, 1]))
    assert (cell(found, "a", "low"), cell(found, "a", "high")) == pytest.approx(
        (max(known[0], 0), min(known[1], 1))
    )


def test_one_participant_has_no_interval() -> None:
    found = explanation_rank(preferring([("p", "w", ["a", "b"], [1, 2])]))
    assert set(found["reason"]) == {"one participant only: no interval over participants"}
