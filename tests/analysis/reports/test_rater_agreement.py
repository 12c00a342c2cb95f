"""All coefficients of each question, with intervals over items and raters, and disputed items."""

from __future__ import annotations

import pytest

from analysis import rating_table, rendered
from analysis.reports.rater_agreement import rater_agreement
from tests.analysis.examples import by_raters, labels, ratings, simulated, worked


def test_the_six_raters_of_fleiss() -> None:
    example = worked("fleiss1971_diagnoses")
    by_rater = list(zip(*example["data"], strict=True))
    report = rater_agreement(by_raters(by_rater, "nominal"))
    rows = report.sections[0].frame.set_index("coefficient")
    assert rows["estimate"]["Krippendorff's alpha"] == pytest.approx(0.43341, abs=5e-6)
    assert rows["estimate"]["Fleiss' kappa, with gaps"] == pytest.approx(0.430245, abs=5e-7)
    bootstrapped = rows.drop(index="Conger's kappa")
    assert (bootstrapped["raters low"] < bootstrapped["estimate"]).all()
    assert (bootstrapped["estimate"] < bootstrapped["high"]).all()
    assert rows["reason"].isna().all()
    worst = report.sections[1]
    assert worst.title.startswith("q: raters disagree most about i")
    assert len(worst.frame) == 10
    assert "alpha is 0.43 (0.3" in report.findings[0]


def test_one_report_of_several_questions() -> None:
    given = [("s", f"i{k}", f"r{j}", int((k * j) % 3 > 0), 0) for k in range(6) for j in range(3)]
    report = rater_agreement(labels(given))
    assert len(report.findings) == 2
    assert "only one category" in report.findings[1]
    assert "Agreement of raters" in rendered(report)


def test_nothing_shared_is_told_with_its_reason() -> None:
    report = rater_agreement(ratings([{"value": 1}, {"value": 2}], level="interval"))
    assert report.findings[0].endswith("because no item was rated by two or more people.")
    assert report.sections[0].frame["reason"].notna().all()
    assert rater_agreement(rating_table(simulated().iloc[:0])).sections == ()
