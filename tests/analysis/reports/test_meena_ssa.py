"""SSA as the paper reports it."""

from __future__ import annotations

import pytest

from analysis import rating_table
from analysis.reports.meena_ssa import meena_ssa
from tests.analysis.examples import labels, simulated


def test_systems_by_ssa_with_agreement() -> None:
    given = [
        (system, f"{system}{item}", f"r{rater}", int(item + rater > least), 0)
        for system, least in (("a", 5), ("b", 2))
        for item in range(6)
        for rater in range(5)
    ]
    report = meena_ssa(labels(given))
    own, agreement, printed, raters = (section.frame for section in report.sections)
    assert list(own["system"]) == ["b", "a"]
    assert own["ssa"].iloc[0] == pytest.approx(
        (own["sensibleness"] + own["specificity"]).iloc[0] / 2
    )
    assert report.findings == (f"b has the highest SSA of 2: {own['ssa'].iloc[0]:.1f} %.",)
    assert set(agreement["metric"]) == {"percent_agreement", "krippendorff_alpha"}
    assert printed.iloc[0]["ssa"] == 82
    assert list(raters["agreement_percent"]) == [76, 66]


def test_undecided_items_are_told() -> None:
    report = meena_ssa(labels([("s", "i", "r0", 1, 0), ("s", "i", "r1", 0, 0)]))
    assert report.findings == ("No item is decided yet: too few votes, or ties (open: 1).",)


def test_what_is_open_is_told_beside_the_highest_score() -> None:
    """One system has its five votes, the other three of them; a score of one only may change."""
    table = labels(
        [("a", f"a{k}", f"r{j}", 1, 0) for k in range(2) for j in range(5)]
        + [("b", f"b{k}", f"r{j}", 1, 1) for k in range(3) for j in range(3)]
    )
    report = meena_ssa(rating_table(table.assign(votes=5)))
    assert report.findings == ("a has the highest SSA of 1: 50.0 % (open: 3 of 5 items).",)
    own = report.sections[0].frame
    told = own[["system", "evaluation", "n", "open"]].to_numpy().tolist()
    assert told == [["a", "static", 2, 0], ["b", "static", 0, 3]]


def test_other_tables_have_no_labels() -> None:
    report = meena_ssa(simulated())
    assert report.findings == ("This table has no labels named sensible and specific.",)
    assert [section.title.split(":")[0] for section in report.sections] == [
        "As printed",
        "As printed",
    ]
