"""Win rates: ties half, every pair of a ranking, intervals over raters."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from analysis.comparisons.preferences import ALONE
from analysis.metrics.win_rate import win_rate
from tests.analysis.preferring import Act, preferring


def test_wins_ties_and_losses() -> None:
    acts = [("1", "r", "ab", (1, 2)), ("2", "r", "ba", (1, 1)), ("3", "s", "ab", (1, 2))]
    found = win_rate(preferring(acts))
    first = found.to_dict("records")[0]
    assert [first[name] for name in ("won", "tied", "lost")] == pytest.approx([2 / 3, 1 / 3, 0])
    assert found["estimate"].tolist() == pytest.approx([5 / 6, 1 / 6])
    assert found["n"].tolist() == [3, 3]


def test_a_ranking_of_three_is_three_pairs() -> None:
    found = win_rate(preferring([("1", "r", "abc", (2, 1, 3)), ("1", "s", "cba", (3, 1, 2))]))
    assert found["estimate"].tolist() == pytest.approx([0.5, 1.0, 0.0])
    assert found["estimate"].sum() == pytest.approx(3 / 2)


def test_raters_who_agree_with_themselves_widen_the_interval() -> None:
    """Ten raters, each of one mind, say less than a hundred votes of a hundred raters."""
    few = [(f"{k}", f"r{k % 10}", "ab", (1, 2) if k % 10 < 6 else (2, 1)) for k in range(100)]
    many = [(f"{k}", f"r{k}", "ab", (1, 2) if k % 10 < 6 else (2, 1)) for k in range(100)]
    width = []
    for acts in (few, many):
        row = win_rate(preferring(acts)).iloc[0]
        assert row["low"] < row["estimate"] == 0.6 < row["high"]
        width.append(row["high"] - row["low"])
    assert width[0] > 2.5 * width[1]


def test_contexts_on_which_raters_agree_widen_the_interval() -> None:
    """Ten raters who agree about ten contexts say little more than ten votes."""
    chance = np.random.default_rng(1)
    agreed, alone = ([], [])
    for k in range(10):
        for rater in range(10):
            first = (1, 2) if k % 2 else (2, 1)
            agreed.append((f"i{k}", f"r{rater}", "ab", first))
            one = (1, 2) if chance.random() < 0.5 else (2, 1)
            alone.append((f"i{k}", f"r{rater}", "ab", one))
    width = [(win_rate(preferring(acts))["high"] - win_rate(preferring(acts))["low"]).iloc[0]
             for acts in (agreed, alone)]  # fmt: skip
    assert width[0] > 2 * width[1]


def test_one_rater_has_a_rate_and_a_reason() -> None:
    row = win_rate(preferring([("1", "r", "ab", (1, 2))])).iloc[0]
    assert row["estimate"] == 1
    assert np.isnan(row["low"])
    assert row["reason"].startswith("1 rater and 1 context: votes of 4 raters")


@pytest.mark.parametrize("alone", ["a", "b", "c"])
def test_a_system_that_met_no_other_has_no_rate_and_the_others_keep_theirs(alone: str) -> None:
    first, second = sorted({*"abc"} - {alone})
    acts: list[Act] = [(str(i), f"r{i}", (first, second), (1, 2)) for i in range(9)]
    met = [("19", "r1", (first, second), (2, 1))]
    found = win_rate(preferring([*acts, *met, ("9", "r", alone, (1,))])).set_index("system")
    without = win_rate(preferring([*acts, *met])).set_index("system")
    ends = ["estimate", "low", "high", "n"]
    pd.testing.assert_frame_equal(found.loc[[first, second], ends], without[ends])
    assert found.loc[[alone], "n"].tolist() == [0]
    assert found.loc[[alone], ends[:3]].isna().all(axis=None)
    assert found.loc[[alone], "reason"].tolist() == [ALONE]
