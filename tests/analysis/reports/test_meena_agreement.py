"""Agreement over evaluations: mean and sample SD by hand, one evaluation, an undefined alpha."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from analysis import RatingTable, Report, get_report, rating_table, rendered
from tests.analysis.examples import labels

# The votes of three raters on four items, by evaluation: (sensible, specific).
GIVEN = {
    "first": ("111 110 000 101", "110 100 000 001"),
    "second": ("111 111 000 100", "111 010 000 000"),
    "third": ("011 101 110 000", "001 001 110 000"),
}


def evaluations(*names: str, **replaced: tuple[str, str]) -> RatingTable:
    tables = []
    for name in names:
        sensible, specific = (text.split() for text in {**GIVEN, **replaced}[name])
        given = [
            ("meena", f"i{k}", f"r{j}", int(sensible[k][j]), int(specific[k][j]))
            for k in range(len(sensible))
            for j in range(len(sensible[k]))
        ]
        tables.append(labels(given).assign(campaign=name))
    table = pd.concat(tables, ignore_index=True)
    return rating_table(table.assign(answer=[f"a{k}" for k in range(len(table))]))


def made(table: RatingTable) -> Report:
    return get_report("meena_agreement")(table)


def by_hand(text: str) -> tuple[float, float]:
    """Return percent agreement, and nominal alpha from its matrix of coincidences."""
    items = text.split()
    pairs = [pair for item in items for pair in combinations(item, 2)]
    agreed = sum(one == other for one, other in pairs) / len(pairs)
    yes, n = "".join(items).count("1"), len("".join(items))
    expected = 2 * yes * (n - yes) / (n * (n - 1))
    return 100 * agreed, 1 - (1 - agreed) / expected


@pytest.mark.parametrize("count", [2, 3])
def test_mean_and_sample_sd_by_hand(count: int) -> None:
    names = list(GIVEN)[:count]
    spread, each, printed = (section.frame for section in made(evaluations(*names)).sections)
    assert len(each) == 2 * count
    for place, label in enumerate(("sensibleness", "specificity")):
        wanted = np.array([by_hand(GIVEN[name][place]) for name in names])
        rows = spread[spread["label"] == label].set_index("measure")
        for column, measure in enumerate(("agreement, percent", "alpha")):
            assert rows.loc[measure, "mean"] == pytest.approx(wanted[:, column].mean())
            assert rows.loc[measure, "sd"] == pytest.approx(wanted[:, column].std(ddof=1))
            assert rows.loc[measure, "n"] == count
    assert printed.to_dict("records") == [
        {"metric": "sensibleness", "agreement_percent": 76, "agreement_sd": 3,
         "krippendorff_alpha": 0.42, "alpha_sd": 0.03},
        {"metric": "specificity", "agreement_percent": 66, "agreement_sd": 2,
         "krippendorff_alpha": 0.3, "alpha_sd": 0.05},
    ]  # fmt: skip


def test_one_evaluation_has_no_sd_and_says_why() -> None:
    report = made(evaluations("first"))
    spread = report.sections[0].frame
    assert spread["sd"].isna().all()
    assert set(spread["reason"]) == {"one evaluation only: no spread"}
    assert report.findings[0].endswith("one evaluation only, so no SD.")


def test_an_evaluation_without_alpha_is_named_and_the_others_stand() -> None:
    alike = ("111 111 111 111", "110 100 000 001")
    report = made(evaluations("first", "second", "third", second=alike))
    (caution,) = report.cautions
    assert caution.startswith("second: sensibleness has no alpha, because only one category")
    assert caution in " ".join(rendered(report).split())
    rows = report.sections[0].frame.set_index(["label", "measure"])
    others = [by_hand(GIVEN[name][0])[1] for name in ("first", "third")]
    assert rows.loc[("sensibleness", "alpha"), "n"] == 2
    assert rows.loc[("sensibleness", "alpha"), "sd"] == pytest.approx(np.std(others, ddof=1))
    assert rows.loc[("sensibleness", "agreement, percent"), "n"] == 3


def test_an_evaluation_of_one_vote_each_has_neither() -> None:
    single = evaluations("first", first=("1 0 1 0", "1 0 0 0"))
    each = made(single).sections[1].frame
    assert all(math.isnan(value) for value in each["agreement, percent"])
    assert each["items"].tolist() == [0, 0]


def test_a_column_of_repeats_tells_evaluations_within_a_campaign() -> None:
    table = evaluations("first", "second")
    one = RatingTable(table.assign(repeat=table["campaign"], campaign="all"))
    first, second = (made(each).sections[0].frame for each in (table, one))
    pd.testing.assert_frame_equal(first, second)
