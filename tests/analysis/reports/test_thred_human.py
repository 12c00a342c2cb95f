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
