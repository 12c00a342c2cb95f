"""The report of implicit engagement: the correlations of the printed table, and one's own."""

from __future__ import annotations

import pytest

from analysis import get_report, rendered
from tests.analysis.examples import ratings
from tests.analysis.metrics.test_human_length import drawn
from tests.analysis.samples import EMPTY

convai2_implicit = get_report("convai2_implicit")


def test_the_printed_table_has_both_correlations_without_a_star() -> None:
    report = convai2_implicit(EMPTY["messages"])
    table, print_ = (section.frame for section in report.sections)
    assert table["r"].round(2).tolist() == [0.62, 0.69]
    assert table["coefficient"].tolist() == ["Spearman", "Pearson"]
    assert table["n"].tolist() == [6, 6]
    assert len(print_) == 7
    sentence = "engagingness with words human 0.62 (Spearman, n = 6); words model with words human"
    assert sentence in report.findings[1]
    assert "*" not in rendered(report).replace("**", "")


def test_own_systems_have_mimicry_and_length_without_it() -> None:
    scores = {"long": 2, "mid": 3, "low": 4}
    given = ratings(
        [{"system": name, "value": value} for name, value in scores.items()], question="enjoyment"
    )
    table = drawn({"long": 24, "mid": 17, "low": 10}, 0.5, each=15)
    report = convai2_implicit(table, given)
    own = report.sections[0].frame.set_index("system")
    assert list(own.index) == ["low", "mid", "long"]  # the most engaging first
    assert own["mimicry"].tolist() == pytest.approx([0.5] * 3, abs=0.1)
    assert own["words human"].max() - own["words human"].min() > 5
    without = own["words human, no mimicry"]
    assert without.max() - without.min() < 3
    assert report.findings[0].startswith("People write most to long")
    kept = report.sections[2].frame.set_index(["table", "coefficient"])
    assert kept.loc[("own", "Spearman"), "r"] == pytest.approx(-1)
    assert report.sections[1].frame["conversations"].tolist() == [15, 15, 15]
