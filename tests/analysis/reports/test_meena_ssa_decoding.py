"""SSA by N and decoding: the planted best cell, missing cells, and what is no label."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest

from analysis import RatingTable, Report, get_report, rating_table
from tests.analysis.examples import labels, ratings

SENSIBLE = {(1, 0): 10, (20, 0): 16, (400, 0): 13, (1, 40): 11, (20, 40): 18, (400, 40): 14}
Cells = Mapping[tuple[int, int], int]


def settings(n: int, top_k: int) -> str:
    """Return settings as a plan has them: a bot that draws, around one that writes."""
    inner = {"bot": "markov", "options": {"temperature": 0.7, "number": 3}}
    drawn = {"number": n, "temperature": 1.0 if top_k else 0.88, "top_k": top_k}
    return json.dumps({"bot": "sample_and_rank", "options": {**inner, **drawn}})


def labeled(cells: Cells = SENSIBLE, n: int = 20) -> RatingTable:
    """Return labels by three people: so many replies are sensible, half of them specific."""
    given = [
        (f"s{count}-{top_k}", f"i{k}", f"r{rater}", int(k < right), int(k < right // 2))
        for (count, top_k), right in cells.items()
        for k in range(n)
        for rater in range(3)
    ]
    of = {f"s{count}-{top_k}": settings(count, top_k) for count, top_k in cells}
    table = labels(given)
    return rating_table(table.assign(settings=[of[str(name)] for name in table["system"]]))


def made(table: RatingTable) -> Report:
    return get_report("meena_ssa_decoding")(table)


def test_the_planted_cell_comes_back_best_in_three_charts() -> None:
    report = made(labeled())
    assert report.findings == (
        "N = 20, T = 1, top-k 40 has the highest SSA: 67.5 %",
    )  # nothing is missing
    charts = [section for section in report.sections if section.chart is not None]
    assert [section.key for section in charts] == ["ssa", "sensibleness", "specificity"]
    for section in charts:
        assert section.chart is not None
        assert len(section.chart.rows) == 6
        frame = section.frame.set_index(["decoding", "N"])
        for _, rows in section.frame.groupby("decoding"):
            assert rows.set_index("N")["estimate"].idxmax() == 20
        assert (frame["low"] < frame["estimate"]).all()
        assert (frame["estimate"] < frame["high"]).all()
    assert charts[1].frame["estimate"].tolist() == pytest.approx([50, 80, 65, 55, 90, 70])
    assert report.sections[-1].frame["ssa"].tolist() == [72, 74]


@pytest.mark.parametrize("lacking", list(SENSIBLE))
def test_a_missing_cell_is_named(lacking: tuple[int, int]) -> None:
    rest = {cell: right for cell, right in SENSIBLE.items() if cell != lacking}
    n, top_k = lacking
    drawn = "T = 1, top-k 40" if top_k else "T = 0.88, whole vocabulary"
    assert made(labeled(rest)).findings[1] == f"Missing: N = {n}, {drawn}."


def test_a_whole_n_that_is_missing_is_named_too() -> None:
    rest = {cell: right for cell, right in SENSIBLE.items() if cell[0] != 400}
    assert made(labeled(rest)).findings[1] == (
        "Missing: N = 400, T = 0.88, whole vocabulary; N = 400, T = 1, top-k 40."
    )


def test_another_grid_is_its_own() -> None:
    found = made(labeled({(5, 0): 10, (50, 0): 12, (5, 10): 11})).findings
    assert found[1] == "Missing: N = 50, T = 1, top-k 10."


@pytest.mark.parametrize("question", ["log_p", "f1", "distinct_2"])
def test_other_numbers_are_no_labels(question: str) -> None:
    table = labeled()
    other = table.assign(question=question, level="interval", value=-12.98)
    sensible = RatingTable(other[table["question"] == "sensible"])
    report = made(sensible)
    assert "log P, F1 or distinct are none" in report.findings[0]
    assert len(report.sections) == 1


def test_numbers_under_the_name_of_a_label_are_refused() -> None:
    rows = [{"system": "a", "value": -12.98 - k} for k in range(4)]
    table = ratings(rows, question="sensible", level="interval")
    report = made(rating_table(table.assign(settings=settings(20, 0))))
    assert report.findings[0].startswith("-15.98 is no label")
    assert len(report.sections) == 1


def test_systems_without_settings_are_named() -> None:
    table = labeled()
    some = table["settings"].where(table["system"] != "s1-0", "")
    report = made(rating_table(table.assign(settings=some)))
    assert report.cautions == ("The settings tell no N, temperature and top-k of s1-0.",)
    assert report.findings[1] == "Missing: N = 1, T = 0.88, whole vocabulary."
    assert len(made(RatingTable(table.drop(columns="settings"))).sections) == 1


def test_systems_of_one_cell_are_named() -> None:
    table = labeled()
    same = table["settings"].where(table["system"] != "s1-0", settings(20, 0))
    report = made(rating_table(table.assign(settings=same)))
    assert report.cautions == (
        "s1-0 and s20-0 have the same decoding: N = 20, T = 0.88, whole vocabulary.",
    )
