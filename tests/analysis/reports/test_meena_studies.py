"""Human-likeness against SSA, and the spread of SSA over repeated evaluations."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from analysis import RatingTable, get_report, rating_table
from tests.analysis.examples import labels, ratings

human_likeness = get_report("meena_human_likeness")
repeatability = get_report("meena_repeatability")


def _joined(*tables: RatingTable) -> RatingTable:
    table = pd.concat(tables, ignore_index=True)
    return rating_table(table.assign(answer=[f"a{k}" for k in range(len(table))]))


def _system(name: str, sensible: int, specific: int, like: int, n: int = 20) -> RatingTable:
    """Return 20 replies with one vote each: so many sensible, specific, like a person's."""
    given = labels([(name, f"i{k}", "r", int(k < sensible), int(k < specific)) for k in range(n)])
    rows = [
        {"item": f"i{k}", "rater": "r", "system": name, "value": int(k < like)} for k in range(n)
    ]
    return _joined(given, ratings(rows, question="human_like", level="nominal", protocol="like"))


def test_points_and_r2_by_hand() -> None:
    table = _joined(_system("a", 10, 4, 8), _system("b", 14, 6, 11), _system("c", 18, 14, 18))
    report = human_likeness(table)
    fits, points, printed = (section.frame for section in report.sections)
    like = [40.0, 55.0, 90.0]
    assert list(points["human-like"]) == pytest.approx(like)
    assert list(points["ssa"]) == pytest.approx([35, 50, 80])
    for row, values in zip(
        fits.to_dict("records"), ([35, 50, 80], [50, 70, 90], [20, 30, 70]), strict=True
    ):
        assert row["R²"] == pytest.approx(np.corrcoef(values, like)[0, 1] ** 2)
    assert dict(zip(printed["score"], printed["r2"], strict=True))["ssa"] == 0.96


@pytest.mark.parametrize(("given", "decided"), [(2, False), (3, True), (4, True)])
def test_human_likeness_waits_for_its_votes_too(given: int, decided: bool) -> None:
    """Of three people asked whether a reply is like a person's, all say that it is."""
    like = ratings(
        [{"item": "i", "system": "a", "rater": f"r{k}", "value": 1} for k in range(given)],
        question="human_like",
        level="nominal",
        protocol="like",
    ).assign(votes=3)
    report = human_likeness(_joined(_system("a", 10, 4, 8).iloc[:40], RatingTable(like)))
    # iloc leaves the labels of sensible and specific, which no column `votes` is about.
    assert len(report.sections) == (3 if decided else 1)
    assert report.findings[0].startswith("Too few" if decided else "No system has decided items")


@pytest.mark.parametrize("votes", [1, 2])
def test_systems_whose_labels_are_open_are_no_points(votes: int) -> None:
    table = _joined(_system("a", 10, 4, 8), _system("b", 14, 6, 11), _system("c", 18, 14, 18))
    asked = np.where(table["question"].eq("human_like"), 1, votes)
    report = human_likeness(rating_table(table.assign(votes=asked)))
    assert len(report.sections) == (3 if votes == 1 else 1)


def test_evaluations_that_are_open_have_no_spread() -> None:
    tables = [
        labels([("m", f"i{k}", "r", 1, 0) for k in range(4)]).assign(campaign=name)
        for name in ("first", "second")
    ]
    both = _joined(*[RatingTable(table) for table in tables])
    report = repeatability(rating_table(both.assign(votes=2)))
    assert report.findings == ("No system was evaluated twice.",)
    assert list(report.sections[1].frame["n"]) == [0, 0]


def test_two_systems_are_no_line() -> None:
    report = human_likeness(_joined(_system("a", 10, 4, 8), _system("b", 14, 6, 11)))
    assert report.findings == ("Too few systems for a line: three are needed.",)
    assert set(report.sections[0].frame["reason"]) == {"2 pairs: three are needed"}


def test_without_both_questions_only_the_print_is_left() -> None:
    report = human_likeness(labels([("a", "i", "r", 1, 1)]))
    assert len(report.sections) == 1
    assert report.findings[0].startswith("No system has decided items")


def test_the_sd_over_seven_evaluations() -> None:
    counts = [8, 10, 12, 9, 11, 10, 10]
    tables = [
        labels([("m", f"i{k}", "r", int(k < sensible), 0) for k in range(20)]).assign(
            campaign=f"e{j}"
        )
        for j, sensible in enumerate(counts)
    ]
    report = repeatability(_joined(*[RatingTable(table) for table in tables]))
    spread, each, printed = (section.frame for section in report.sections)
    scores = [100 * sensible / 20 / 2 for sensible in counts]
    assert list(each["estimate"]) == pytest.approx(scores)
    assert spread["sd"].iloc[0] == pytest.approx(np.std(scores, ddof=1))
    assert spread["evaluations"].iloc[0] == 7
    assert list(printed["sd"]) == [2, 1]


def test_one_evaluation_has_no_spread() -> None:
    report = repeatability(labels([("m", "i", "r", 1, 1)]))
    assert report.findings == ("No system was evaluated twice.",)
    assert report.sections[0].frame["reason"].iloc[0] == "one evaluation only: no spread"
