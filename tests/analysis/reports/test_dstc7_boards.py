"""Boards of DSTC7: the rule by hand, and on the paper's two tables."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import pytest

from analysis import PredictionTable, prediction_table
from analysis.reference import reference
from analysis.reports.dstc7_boards import NONE, board, dstc7_boards
from tests.analysis.prediction_tables import predictions, ranked


def entered(*given: tuple[str, str, Sequence[int]]) -> PredictionTable:
    tables = [
        ranked(*places, n=100, system=system).assign(
            dataset=data, prediction=[f"{data} {system} {k}" for k in range(len(places))]
        )
        for data, system, places in given
    ]
    return prediction_table(pd.concat(tables, ignore_index=True))


def test_a_subtask_that_was_not_entered_is_no_rank_and_an_initial_set_ranks_nobody() -> None:
    table = entered(
        ("Advising 1 initial", "b", (1, 1)),
        ("Advising 1 initial", "a", (20, 20)),
        ("Advising 1", "a", (1, 2)),
        ("Advising 1", "b", (20, 50)),
        ("Advising 3", "b", (1, 1)),
        ("Advising 1", "c", (3, 100)),
    )
    report = dstc7_boards(table)
    own, versions, scores, *_ = (section.frame for section in report.sections)
    assert own["team"].tolist() == ["a", "b", "c"]
    assert own["average rank"].tolist() == [1, 2, 2]
    assert pd.isna(own.set_index("team")["Advising 3"]["a"])
    assert versions[["team", "subtask"]].to_numpy().tolist() == [["a", "1"], ["b", "1"]]
    assert versions["initial"].tolist() == pytest.approx([0.025, 1])
    assert versions["final"].tolist() == pytest.approx([(1 + 0.75) / 2, 0.035 / 2])
    assert len(scores) == 6
    assert report.findings == ("a has the best average rank of 3: 1.",)


def test_who_entered_an_initial_set_only_is_shown_and_not_ranked() -> None:
    report = dstc7_boards(entered(("Advising 1 initial", "a", (1, 2))))
    assert report.findings == ("Nobody entered a final test set.",)
    assert report.sections[0].frame["average rank"].isna().all()


def test_the_print_follows_the_rule_but_for_two_teams_and_two_scores_are_named() -> None:
    report = dstc7_boards(predictions([{"response": "Hi."}]))
    ours, slips, printed = (section.frame for section in report.sections)
    assert report.findings == (NONE,)
    order = printed["team"].tolist()
    assert len(order) == 20
    assert [team for team in ours["team"] if team not in (11, 12)] == [
        team for team in order if team not in (11, 12)
    ]
    assert (order[11:13], ours["team"].tolist()[11:13]) == ([11, 12], [12, 11])
    assert slips["data and team"].tolist() == ["Ubuntu 5", "Ubuntu 20"]
    assert slips["MRR implied"].tolist() == pytest.approx([0.051, 0.001])


def test_with_the_scores_turned_over_another_is_first() -> None:
    scores = pd.DataFrame(list(reference("dstc7_boards").rows)).set_index("team")
    assert board(scores)["team"].iloc[0] == 3
    assert board(-scores)["team"].iloc[0] != 3
