"""What the results page tells of agreement: the usual coefficients, and all that are defined."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from analysis import RatingTable, evaluate, rating_table
from analysis.output import findings
from analysis.output.ranking import rankings
from analysis.report import Section
from tests.analysis.examples import by_raters, labels, ratings


def _agreement(table: RatingTable) -> pd.DataFrame:
    shown = {part.key: part for part in _sections(table)}
    return shown.get("agreement-all", shown["agreement"]).frame


def _sections(table: RatingTable) -> Iterator[Section]:
    results = evaluate(table)
    return findings.sections(table, results, rankings(results))


def test_agreement_is_a_row_per_question_and_says_what_single_ratings_are_worth() -> None:
    data = [[1, 1, 0, 1, 0], [1, 0, 0, 1, 0], [1, 1, 0, 1, 1]]
    table = by_raters(data, "nominal")
    shown = {part.key: part for part in _sections(table)}
    part, every = shown["agreement"], shown["agreement-all"].frame
    alpha = every.loc[every["coefficient"] == "Krippendorff's alpha", "estimate"].iloc[0]
    assert list(part.frame["question"]) == ["q"]
    assert part.frame["alpha"].iloc[0] == alpha
    assert part.title == (
        f"Raters agree with an alpha of {alpha:.2f}: single ratings say little, means of many more"
    )
    assert shown["agreement-all"].appendix


def test_every_coefficient_that_fits_the_level_is_shown() -> None:
    data = [[1, 1, 0, 1, 0], [1, 0, 0, 1, 0], [1, 1, 0, 1, 1]]
    assert list(_agreement(by_raters(data, "nominal"))["coefficient"]) == [
        "percent agreement",
        "Krippendorff's alpha",
        "Fleiss' kappa",
        "Cohen's kappa",
        "Gwet's AC1",
    ]
    of_scale = set(_agreement(by_raters(data, "interval"))["coefficient"])
    assert {"Gwet's AC2", "Cohen's kappa, quadratic weights", "ICC(2,k)"} <= of_scale
    assert "Fleiss' kappa" not in of_scale


def test_what_is_undefined_is_told_once_for_each_usual_coefficient() -> None:
    frame = _agreement(ratings([{"value": 1}, {"value": 2, "system": "b"}]))
    assert list(frame["coefficient"]) == [
        "percent agreement",
        "Krippendorff's alpha",
        "Fleiss' kappa",
    ]
    assert set(frame["why undefined"]) == {"no item was rated by two or more people"}


def test_a_design_without_agreement_is_told_which_would_have_it() -> None:
    once = ratings([{"value": 1}, {"value": 2, "system": "b"}])
    twice = by_raters([[1, 2, 3], [1, 3, 3]], "interval")
    told = {
        len(table): next(part.note for part in _sections(table) if part.key == "agreement")
        for table in (once, twice)
    }
    assert "third parties who judge the messages" in told[len(once)]
    assert "third parties" not in told[len(twice)]


def test_ssa_tells_how_many_replies_are_open() -> None:
    """First b has three of its five votes; then a has them too, and nothing is decided."""
    a = [("a", f"a{k}", f"r{j}", 1, 0) for k in range(2) for j in range(5)]
    b = [("b", f"b{k}", f"r{j}", 1, 1) for k in range(3) for j in range(3)]
    part = _ssa(labels(a + b))
    assert part.title == "a has the highest SSA: 0.50 (open: 3 of 5 replies)"
    assert part.frame[["system", "n", "open"]].drop_duplicates().to_numpy().tolist() == [
        ["a", 2, 0],
        ["b", 0, 3],
    ]
    assert part.chart is not None
    assert {row["system"] for row in part.chart.rows} == {"a"}
    none = _ssa(labels(b))
    assert none.title == "No reply is decided yet: too few votes, or ties (open: 3)"
    assert none.chart is None


def _ssa(table: RatingTable) -> Section:
    asked = rating_table(table.assign(votes=5))
    return {part.key: part for part in _sections(asked)}["ssa"]
