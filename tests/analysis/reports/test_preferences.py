"""The report of preferences: planted orders come back, ties, order and circles are told."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from analysis import Report, get_report, rating_table
from tests.analysis.examples import simulated
from tests.analysis.preferring import Act, preferring


def _section(report: Report, key: str) -> pd.DataFrame:
    return next(each.frame for each in report.sections if each.key == f"{key}-q")


def _title(report: Report, key: str) -> str:
    return next(each.title for each in report.sections if each.key == f"{key}-q")


def _votes(ability: dict[str, float], votes: int, *, first: float = 0.0) -> list[Act]:
    """Return side-by-side votes; some are ties, and what is shown first has an advantage."""
    rng = np.random.default_rng(1)
    acts: list[Act] = []
    for k in range(votes):
        a, b = rng.permutation(sorted(ability))[:2]
        tied = rng.random() < 0.15
        won = rng.random() < 1 / (1 + np.exp(ability[b] - ability[a] - first))
        values = [1, 1] if tied else [1, 2] if won else [2, 1]
        acts.append((f"i{k}", f"r{k % 25}", [a, b], values))
    return acts


@pytest.fixture(scope="module")
def planted() -> Report:
    acts = _votes({"a": 0.9, "b": 0.0, "c": -0.9}, 1500, first=0.5)
    return get_report("preferences")(preferring(acts))


def test_the_planted_order_comes_back_with_its_ties(planted: Report) -> None:
    wins = _section(planted, "wins")
    assert list(wins["system"]) == ["a", "b", "c"]
    assert wins["ties"].mean() == pytest.approx(0.15, abs=0.03)
    abilities = _section(planted, "abilities").set_index("system")
    assert abilities["with ties (Davidson)"]["a"] > abilities["log-ability"]["a"] > 0.5
    note = next(each.note for each in planted.sections if each.key == "abilities-q")
    assert "nu = " in note


def test_intervals_that_are_withheld_are_explained() -> None:
    acts: list[Act] = [
        (f"i{k}", f"r{k % 3}", ["a", "b"], [1, 2] if k % 4 else [2, 1]) for k in range(40)
    ]
    report = get_report("preferences")(preferring(acts))
    for key in ("wins-q", "abilities-q"):
        note = next(each.note for each in report.sections if each.key == key)
        assert "No interval: 3 raters and 40 contexts: votes of 4 raters" in note


def test_the_order_of_showing_is_told(planted: Report) -> None:
    assert _title(planted, "order") == "Q: what is shown first is more often preferred"
    assert _section(planted, "order")["p"].iloc[0] < 0.001


def test_that_there_are_no_circles_is_told(planted: Report) -> None:
    assert _title(planted, "circles").startswith("Q: no circle among 1 triples")
    assert _section(planted, "circles")["circle"].tolist() == ["none"]


def test_circles_are_named_and_counted() -> None:
    beats = [("a", "b"), ("b", "c"), ("c", "a"), ("a", "d"), ("b", "d"), ("c", "d")]
    acts: list[Act] = [
        (f"{x}{y}{k}", f"r{k}", [x, y], [1, 2] if k else [2, 1])
        for x, y in beats
        for k in range(12)
    ]
    report = get_report("preferences")(preferring(acts))
    assert _title(report, "circles") == (
        "Q: 1 of 4 triples of systems are circles, 1 of them beyond chance in every step"
    )
    row = _section(report, "circles").iloc[0]
    assert row["circle"] == "a > b > c > a"
    assert row["wins and losses"] == "11 to 1, 11 to 1, 11 to 1"
    assert row["p of the weakest step"] == pytest.approx(0.00635, abs=1e-5)


def test_whole_rankings_have_worths_and_rank_scores_that_add_up() -> None:
    rng = np.random.default_rng(2)
    acts: list[Act] = []
    for k in range(90):
        order = np.argsort(np.argsort(-(np.array([1.0, 0.0, -1.0]) + rng.gumbel(size=3))))
        acts.append((f"i{k % 30}", f"r{k // 30}", ["a", "b", "c"], [float(x) + 1 for x in order]))
    report = get_report("preferences")(preferring(acts))
    assert _section(report, "worths")["system"].tolist() == ["a", "b", "c"]
    ranks = _section(report, "ranks")
    assert ranks["rank score"].sum() == pytest.approx(1.5)
    assert (ranks["rank score"] + ranks["rank (L2E)"]).tolist() == pytest.approx([1.0] * 3)


def test_one_who_never_lost_has_wins_and_no_ability() -> None:
    report = get_report("preferences")(preferring([("i", "r", ["a", "b"], [1, 2])]))
    assert "abilities are not defined" in _title(report, "abilities")
    assert _title(report, "wins").startswith("Q: a wins 100%")


def test_scales_alone_have_no_preferences() -> None:
    report = get_report("preferences")(rating_table(simulated()))
    assert report.sections == ()
    assert "rank or choose" in report.findings[0]
