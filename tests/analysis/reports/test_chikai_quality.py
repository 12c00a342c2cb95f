"""Chikai's first task: macro-averages over annotators, kappas, and what is both (V2)."""

from __future__ import annotations

from typing import Any

import pytest

from analysis import Report, get_report, rendered
from analysis.metrics.fleiss_kappa import fleiss_kappa
from analysis.stats.between_runs import SHARE, over_raters
from tests.analysis.examples import from_counts, ratings

chikai_quality = get_report("chikai_quality")

DOMAIN = [
    ["new", "new", "old"],
    ["new", "new", "new"],
    ["old", "new", "new"],
    ["new", "old", "new"],
]
SENTIMENT = [["new", "old", "old"], ["new", "new", "new"], ["old", "new", "old"]]  # not the last


def compared(question: str, votes: list[list[str]]) -> list[dict[str, Any]]:
    return [
        {"item": f"i{k}", "rater": f"r{j}", "system": system, "value": 1 if system == vote else 2}
        | {"question": question, "level": "rank", "campaign": "c"}
        for k, each in enumerate(votes)
        for j, vote in enumerate(each)
        for system in ("old", "new")
    ]


def labeled(question: str, system: str, votes: list[list[int]]) -> list[dict[str, Any]]:
    return [
        {"item": f"i{k}{system}", "rater": f"r{j}", "system": system, "value": label}
        | {"question": question, "level": "nominal"}
        for k, each in enumerate(votes)
        for j, label in enumerate(each)
    ]


def rows_of(report: Report) -> Any:
    return report.sections[0].frame.set_index(["label", "system"])


def test_pairs_sum_to_one_and_have_one_kappa() -> None:
    found = rows_of(chikai_quality(ratings(compared("domain_awareness", DOMAIN))))
    shares = found.loc["domain-awareness"]
    # By annotator 3/4, 3/4 and 3/4 of four utterances.
    assert shares["mean"].to_dict() == pytest.approx({"new": 0.75, "old": 0.25})
    assert shares["mean"].sum() == pytest.approx(1)
    assert shares["kappa"].nunique() == 1
    votes = [[each.count("new"), each.count("old")] for each in DOMAIN]
    expected = fleiss_kappa(from_counts(votes))["estimate"].iloc[0]
    assert shares["kappa"].iloc[0] == pytest.approx(expected)


def test_each_label_of_a_reply_has_a_kappa_per_system() -> None:
    old, new = [[1, 1, 1], [0, 0, 1]], [[1, 0, 1], [1, 1, 0]]
    given = labeled("fluency", "old", old) + labeled("fluency", "new", new)
    found = rows_of(chikai_quality(ratings(given))).loc["fluency"]
    for system, votes in (("old", old), ("new", new)):
        means = [sum(each[j] for each in votes) / 2 for j in range(3)]
        spread = over_raters(means, SHARE)
        assert found.loc[system, ["mean", "low", "high"]].tolist() == pytest.approx(
            [spread.mean, *spread.interval]
        )
        counts = [[each.count(1), each.count(0)] for each in votes]
        expected = fleiss_kappa(from_counts(counts))["estimate"].iloc[0]
        assert found.loc[system, "kappa"] == pytest.approx(expected)


def test_five_annotators_have_a_t_interval_with_four_degrees() -> None:
    given = labeled("consistency", "new", [[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]])
    row = rows_of(chikai_quality(ratings(given))).loc["consistency", "new"]
    half = 2.7764451 * 0.075**0.5 / 5**0.5  # means 1, 1, 1, .5, .5: variance .075
    assert (row["low"], row["high"]) == pytest.approx((0.8 - half, 1.0))  # 1.14
    assert (row["judgments"], row["annotators"]) == (10, 5)


def test_what_is_both_is_counted_together_not_multiplied() -> None:
    given = compared("domain_awareness", DOMAIN) + compared("sentiment_richness", SENTIMENT)
    report = chikai_quality(ratings(given))
    found = rows_of(report).loc["both domain-aware and sentiment-rich"]
    # Of three utterances with both labels: new wins both in 2, 2 and 1, old in 1, 0 and 1.
    assert found["mean"].to_dict() == pytest.approx({"new": 5 / 9, "old": 2 / 9})
    assert found["judgments"].tolist() == [9, 9]
    margins = rows_of(report)["mean"]
    product = margins["domain-awareness", "new"] * margins["sentiment-richness", "new"]
    assert abs(found.loc["new", "mean"] - product) > 0.1
    assert report.findings[0].startswith(
        "new is ahead, both domain-aware and sentiment-rich: 55.6%"
    )


def test_scales_and_comparisons_with_ties_are_another_matter() -> None:
    tied = [{**row, "value": 1} for row in compared("domain_awareness", DOMAIN)]
    scale: list[dict[str, Any]] = [
        {"question": "fluency", "value": value, "level": "ordinal"} for value in (0, 1)
    ]
    report = chikai_quality(ratings(tied + scale))
    assert report.findings[0].startswith("No question labels fluency")
    assert "As printed: Chikai et al. 2019" in rendered(report)
    printed: Any = report.sections[0].frame.set_index(["label", "system"])
    assert printed.loc[("domain-awareness", "proposed"), "mean"] == 0.89
    assert printed.loc[("both domain-aware and sentiment-rich", "proposed"), "mean"] == 0.681


def test_the_printed_joint_share_is_no_product_of_the_margins() -> None:
    """The print has 68.1 % of joint labels, where .890 times .717 would be 63.8 %."""
    (section,) = chikai_quality(ratings([{"value": 3}])).sections
    means: Any = section.frame.set_index(["label", "system"])["mean"]
    margins = means["domain-awareness", "proposed"] * means["sentiment-richness", "proposed"]
    assert round(100 * margins, 1) == 63.8
    assert round(100 * means["both domain-aware and sentiment-rich", "proposed"], 1) == 68.1
