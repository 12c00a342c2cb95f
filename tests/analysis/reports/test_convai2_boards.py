"""The boards of ConvAI2: the printed order, metrics not entered, the calibrated order of people."""

from __future__ import annotations

import json
import math
from typing import Any

import pandas as pd
import pytest

from analysis import PredictionTable, Report, get_metric, get_report, prediction_table
from analysis.comparisons.best_rank import best_ranks
from tests.analysis.examples import ROOT, ratings, triples
from tests.analysis.prediction_tables import predictions, ranked, said

STORED = json.loads((ROOT / "analysis/reference/convai2_automatic.json").read_text("utf-8"))["rows"]
LOWER = frozenset({"ppl"})


def made(**tables: Any) -> Report:
    return get_report("convai2_boards")(**tables)


def section(report: Report, title: str) -> Any:
    (found,) = (each.frame for each in report.sections if each.title.startswith(title))
    return found


def test_the_rule_gives_the_printed_order_of_all_23_teams_and_baselines_below() -> None:
    board = section(made(), "The same rule")
    assert board["team"].tolist() == [row["team"] for row in STORED]
    assert [row["rank"] for row in STORED] == [*range(1, 24), None, None, None]
    assert board["rank"].tolist()[23:] == ["-"] * 3
    assert all("Baseline" in team for team in board["team"][23:])


def test_what_is_printed_comes_back_to_the_digit() -> None:
    board = section(made(), "The same rule")
    for shown, row in zip(board.to_dict("records"), STORED, strict=True):
        for name in ("ppl", "hits@1", "F1"):
            assert shown[name] == "-" if row[name] is None else float(shown[name]) == row[name]


@pytest.mark.parametrize(("f1", "first"), [(4.5, "both"), (2.5, "one")])
def test_what_is_left_out_counts_neither_as_worst_nor_as_best(f1: float, first: str) -> None:
    """Of five, equal in perplexity: `both` is second or fourth in F1, and `one` did not enter it.

    As the worst, `one` would always stand behind, and as the best always in front.
    """
    table = pd.DataFrame(
        {"ppl": [1.0, 1.0, 7, 8, 9], "F1": [f1, math.nan, 5, 4, 3]},
        index=["both", "one", "x", "y", "z"],
    )
    places = best_ranks(table, lower_is_better=LOWER)
    other = {"both": "one", "one": "both"}[first]
    assert places[first] < places[other]


def test_ties_go_to_the_second_then_the_third_rank_and_equal_ones_share_a_place() -> None:
    table = pd.DataFrame(
        {"ppl": [1.0, 2, 3, 4], "hits@1": [3.0, 4, 1, 2], "F1": [2.0, 1, 3, 4]},
        index=["a", "b", "c", "d"],
    )  # ranks: a 1 2 3, b 2 1 4, c 3 4 2, d 4 3 1
    assert best_ranks(table, lower_is_better=LOWER).to_dict() == {"a": 1, "b": 2, "d": 3, "c": 4}
    same = pd.DataFrame({"ppl": [1.0, 1.0, 2.0]}, index=["a", "b", "c"])
    assert best_ranks(same, lower_is_better=LOWER).tolist() == [1, 1, 3]


def test_who_entered_nothing_is_last() -> None:
    table = pd.DataFrame({"ppl": [math.nan, 2.0, 1.0]}, index=["none", "b", "c"])
    assert best_ranks(table, lower_is_better=LOWER).to_dict() == {"c": 1, "b": 2, "none": 3}


def entered() -> PredictionTable:
    """Return four systems and a baseline: a has all metrics, b only ranks, c and d only write."""
    frames = [
        predictions([{"gold": "x y", "log_probs": [-math.log(20.0)] * 2}], system="a"),
        ranked(1, 5, 1, 9, system="a"),
        said(("x z", "x y"), system="a"),
        ranked(1, 1, 1, 9, system="b"),
        said(("x y", "x y"), system="c"),
        said(("z", "x y"), system="d"),
        predictions([{"gold": "x y", "log_probs": [-math.log(2.0)] * 2}], system="my_baseline"),
    ]
    table = pd.concat(frames, ignore_index=True)
    names = [f"p{k}" for k in range(len(table))]
    return prediction_table(table.assign(prediction=names, example=names))


def test_ones_own_board_has_a_dash_for_what_was_not_entered() -> None:
    report = made(predictions=entered())
    board = section(report, "Automatic board on d")
    assert board.to_dict("records") == [
        {"rank": "1", "team": "a", "ppl": "20.00", "hits@1": "50.0", "F1": "50.00"},
        {"rank": "2", "team": "b", "ppl": "-", "hits@1": "75.0", "F1": "-"},
        {"rank": "2", "team": "c", "ppl": "-", "hits@1": "-", "F1": "100.00"},
        {"rank": "4", "team": "d", "ppl": "-", "hits@1": "-", "F1": "0.00"},
        {"rank": "-", "team": "my_baseline", "ppl": "2.00", "hits@1": "-", "F1": "-"},
    ]
    assert report.findings == ("Automatic board on d: a first of 4.",)


def test_people_are_ordered_by_the_calibrated_score_with_the_raw_one_beside_it() -> None:
    """m0 met the lenient half only and m1 the severe one; m2, met by all, tells them apart."""
    lenient, severe = range(4), range(4, 8)
    given = [(0, r, 3) for r in lenient] + [(1, r, 2) for r in severe]
    given += [(2, r, 4) for r in lenient] + [(2, r, 1) for r in severe]
    table = triples(given, question="enjoyed", scale_low=1, scale_high=4)
    board = section(made(ratings=table), "Human board").set_index("team")
    scores = get_metric("calibrated_score")(table).set_index("system")["estimate"]
    assert board.index.tolist() == scores.sort_values(ascending=False).index.tolist()
    assert board.loc["m1", "calibrated"] > board.loc["m0", "calibrated"]
    assert board.loc["m1", "raw"] < board.loc["m0", "raw"]


def test_people_and_the_baseline_stand_below_without_a_rank() -> None:
    rows = [
        {"system": name, "rater": f"r{k}", "item": f"{name}{k}", "value": value}
        for name, value in {"a": 3, "human": 4, "kv_baseline": 2, "b": 2}.items()
        for k in range(4)
    ]
    guesses = [{**row, "question": "persona", "level": "nominal", "value": 1} for row in rows]
    asked = [{**row, "question": "engagingness"} for row in rows]
    table = ratings([*asked, *guesses], scale_low=1, scale_high=4)
    board = section(made(ratings=table), "Human board")
    assert board["team"].tolist() == ["a", "b", "human", "kv_baseline"]
    assert board["rank"].isna().tolist() == [False, False, True, True]
    assert board["persona detection"].tolist() == [1.0] * 4


def test_without_tables_the_print_is_left() -> None:
    report = made()
    assert report.findings[0].startswith("No system has predictions")
    people = report.sections[-1].frame
    assert people.iloc[0].tolist() == ["Lost in Conversation", 3.11, 0.9]
    assert len(people) == 8
