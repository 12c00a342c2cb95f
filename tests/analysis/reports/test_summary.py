"""The summary: findings, the ranking first, agreement last."""

from __future__ import annotations

from analysis import rating_table, summary
from tests.analysis.examples import labels, raw, simulated


def test_the_ranking_comes_first_and_agreement_last() -> None:
    report = summary(simulated())
    assert report.findings[0] == "240 answers of 60 raters on 4 systems."
    assert report.findings[1] == report.sections[0].title
    assert list(report.sections[0].frame["system"]) == ["s3", "s2", "s1", "s0"]
    assert report.sections[1].title.startswith("Probability that the row's system beats")
    assert report.sections[-1].title.startswith("Agreement of raters")


def test_labels_have_shares_and_no_ranking() -> None:
    given = [
        (s, f"{s}{k}", f"r{k}", int(k > miss), 0)
        for s, miss in (("a", 2), ("b", 4))
        for k in range(9)
    ]
    report = summary(labels(given))
    titles = [section.title for section in report.sections]
    assert titles[:3] == [
        "First in sensible (meena): a, 0.667",
        "First in specific (meena): a, 0.000",
        "First in SSA (meena): a, 0.333",
    ]


def test_the_seed_decides() -> None:
    first, second = (summary(simulated(), seed=7).sections[0].frame for _ in range(2))
    assert first.equals(second)


def test_text_answers_alone_leave_agreement() -> None:
    report = summary(rating_table(raw([{"value": "red"}, {"value": "blue"}], level="nominal")))
    assert [section.title for section in report.sections] == [
        "Agreement of raters: alpha is not defined"
    ]
