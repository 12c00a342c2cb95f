"""THRED's tables of people: grades, side by side, data sets."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from analysis import RatingTable, get_report, rating_table
from tests.analysis.examples import ratings

thred_human = get_report("thred_human")


def _grades(system: str, given: list[list[int]], dataset: str = "reddit") -> pd.DataFrame:
    rows = [
        {"item": f"{dataset}{k}", "rater": f"r{j}", "value": grade, "system": system}
        for k, votes in enumerate(given)
        for j, grade in enumerate(votes)
    ]
    return ratings(rows, question="grade", dataset=dataset)


def _preferred(given: list[list[tuple[int, int]]]) -> pd.DataFrame:
    rows = [
        {"item": f"reddit{k}", "rater": f"r{j}", "value": rank, "system": system}
        for k, votes in enumerate(given)
        for j, pair in enumerate(votes)
        for system, rank in zip("ab", pair, strict=True)
    ]
    return ratings(rows, question="better", level="rank", dataset="reddit")


def _table(*parts: pd.DataFrame) -> RatingTable:
    table = pd.concat(parts, ignore_index=True)
    return rating_table(table.assign(answer=[f"a{k}" for k in range(len(table))]))


A = _grades("a", [[3, 3], [2, 3], [1, 2], [2, 2]])
B = _grades("b", [[1, 0], [2, 2], [0, 1], [2, 2]])


def test_shares_of_grades_with_intervals_by_hand() -> None:
    report = thred_human(_table(A, B))
    frame = report.sections[0].frame.set_index("system")
    assert report.findings == ("a has the highest mean rating: 2.25 of 3.",)
    # Excellent: 2, 1, 0, 0 of two votes per item: mean 3/8, clusters differ by item.
    gaps = np.array([2, 1, 0, 0]) - 2 * 3 / 8
    half = stats.t.ppf(0.95, 3) * np.sqrt(4 / 3 * (gaps**2).sum()) / 8
    assert frame.loc["a", "excellent"] == f"37.5 ± {100 * half:.1f}"
    assert frame.loc["b", "excellent"] == "0.0 ± 0.0"
    # Fleiss of a: pairs agree in items 1 and 4; shares 3/8, 4/8, 1/8.
    chance = (9 + 16 + 1) / 64
    assert frame.loc["a", "kappa"] == pytest.approx((0.5 - chance) / (1 - chance))


def test_side_by_side_tells_good_ties_from_bad_ones_by_the_grades() -> None:
    pairs = _preferred([[(1, 2), (1, 2)], [(1, 1), (1, 1)], [(1, 1), (2, 1)], [(1, 1), (1, 1)]])
    frame = thred_human(_table(A, B, pairs)).sections[1].frame
    row = frame[frame["system"] == "a"].iloc[0]
    shares = [row[name].split(" ")[0] for name in ("wins", "losses", "equally good", "equally bad")]
    assert shares == ["25.0", "12.5", "50.0", "12.5"]
    assert row["judgments"] == 8
    told = ratings(
        [{"item": "reddit1", "rater": "r0", "value": "equally bad"}],
        question="tie", level="nominal", dataset="reddit",
    )  # fmt: skip
    frame = thred_human(_table(A, B, pairs, told)).sections[1].frame
    assert frame[frame["system"] == "a"].iloc[0]["equally bad"].startswith("25.0")


def test_the_kind_of_tie_is_read_from_the_rank_rows_before_the_grades() -> None:
    pairs = _preferred([[(1, 2), (1, 2)], [(1, 1), (1, 1)], [(1, 1), (2, 1)], [(1, 1), (1, 1)]])
    tied = pairs.groupby(["item", "rater"])["value"].transform("nunique") == 1
    for chosen, good in (("equally good", "62.5"), ("equally bad", "0.0")):
        given = pairs.assign(chosen=tied.map({True: chosen, False: ""}))
        for graded in ((A, B), ()):  # with grades that tell another kind, and without any
            report = thred_human(_table(*graded, given))
            (frame,) = [s.frame for s in report.sections if s.title == "Side by side"]
            row = frame[frame["system"] == "a"].iloc[0]
            assert row["equally good"].split(" ")[0] == good
            assert row["wins"].split(" ")[0] == "25.0"


def test_grades_of_one_context_are_one_cluster() -> None:
    apart = thred_human(_table(A, B)).sections[0].frame
    contexts = ["k0", "k0", "k0", "k0", "k1", "k1", "k1", "k1"]
    of_two = [one.assign(context=contexts) for one in (A, B)]
    together = thred_human(_table(*of_two)).sections[0].frame
    # Excellent: 3 of 4 and 0 of 4; two clusters, so t has one degree of freedom.
    half = stats.t.ppf(0.95, 1) * np.sqrt(2 * (1.5**2 + 1.5**2)) / 8
    assert together.iloc[0]["excellent"] == f"37.5 ± {100 * half:.1f}"
    assert apart.iloc[0]["excellent"] != together.iloc[0]["excellent"]


def test_the_scale_tells_grades_where_nobody_said_bad() -> None:
    rows: list[dict[str, object]] = [{"value": grade, "system": "a"} for grade in (3, 3, 2)]
    known = ratings(rows, question="grade", scale_low=0, scale_high=3)
    assert thred_human(known).findings == ("a has the highest mean rating: 2.67 of 3.",)
    other = ratings(rows, question="grade", scale_low=1, scale_high=4)
    assert "No question" in thred_human(other).findings[0]


def test_outcomes_are_averaged_over_the_systems_met() -> None:
    rows = [
        {"item": f"i{number}", "rater": "r", "value": rank, "system": system}
        for number, (other, ranks) in enumerate(
            [("b", (1, 2)), ("b", (1, 2)), ("b", (1, 2)), ("c", (1, 2)), ("c", (1, 1))]
        )
        for system, rank in zip(("a", other), ranks, strict=True)
    ]
    report = thred_human(ratings(rows, level="rank", chosen="equally good"))
    (frame,) = [s.frame for s in report.sections if "mean over" in s.title]
    row = frame.iloc[0].to_dict()
    assert (row["system"], row["wins"], row["equally good"], row["systems"]) == ("a", 75, 25, 2)
    assert len(frame) == 1, "b and c met one other"


def test_data_sets_are_compared_over_systems() -> None:
    other = [_grades(s, [[3, 3], [g, 0]], dataset="films") for s, g in (("a", 3), ("b", 1))]
    report = thred_human(_table(A, B, *other))
    frame = report.sections[1].frame.set_index("dataset")
    assert frame.loc["films", "MER"] == pytest.approx((9 / 4 + 7 / 4) / 2)
    assert frame.loc["reddit", "SD over systems"] == pytest.approx(np.std([2.25, 1.25], ddof=1))
    assert [section.title.split(":")[0] for section in report.sections[2:]] == ["As printed"] * 3


def test_without_grades_only_the_prints_are_left() -> None:
    report = thred_human(ratings([{"value": 5}]))
    assert len(report.sections) == 3
    assert report.findings == ("No question is answered by grades from 0 to 3.",)
