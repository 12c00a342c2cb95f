"""Intended against perceived sentiment: matrix, agreement over raters, kappa."""

from __future__ import annotations

import pytest

from analysis import Report, get_report, rendered
from tests.analysis.examples import ratings


def _report(perceived: list[tuple[str, list[str]]]) -> Report:
    rows: list[dict[str, object]] = [
        {"item": f"i{k}", "rater": f"r{j}", "value": said, "intended": intended}
        for k, (intended, votes) in enumerate(perceived)
        for j, said in enumerate(votes)
    ]
    table = ratings(rows, question="perceived_sentiment", level="nominal", system="bot")
    return get_report("chikai_sentiment")(table)


def test_by_hand() -> None:
    report = _report(
        [
            ("positive", ["positive", "positive"]),
            ("neutral", ["positive", "neutral"]),
            ("negative", ["negative", "neutral"]),
            ("neutral", ["neutral", "neutral"]),
        ]
    )
    figures, matrix, counts, printed = (section.frame for section in report.sections)
    # One rater agrees 3 of 4 times, the other 3 of 4 times as well: no spread.
    assert report.findings == ("Perceived as intended: 75.0% of 8 annotations.",)
    assert counts.set_index("intended").loc["neutral"].to_dict() == {
        "positive": 1, "neutral": 3, "negative": 0,
    }  # fmt: skip
    assert matrix.set_index("intended").loc["neutral", "neutral"] == 75
    # Fleiss: P = (1 + 0 + 0 + 1)/4, shares 3/8, 4/8, 1/8.
    chance = (9 + 16 + 1) / 64
    kappa = figures.set_index("figure").loc["Fleiss' kappa", "estimate"]
    assert kappa == pytest.approx((0.5 - chance) / (1 - chance))
    assert 64.5 in set(printed["percent"])


def test_five_raters_have_a_t_interval_with_four_degrees() -> None:
    votes = [["positive"] * 5, ["positive"] * 3 + ["neutral"] * 2]
    report = _report([("positive", vote) for vote in votes])
    row = report.sections[0].frame.iloc[0]
    assert row["estimate"] == pytest.approx(0.8)
    half = 2.7764451 * (0.075**0.5) / 5**0.5  # shares 1, 1, 1, .5, .5: variance .075
    assert (row["low"], row["high"]) == pytest.approx((0.8 - half, 0.8 + half))


def test_without_intentions_only_the_print_is_left() -> None:
    report = get_report("chikai_sentiment")(ratings([{"value": 3}]))
    assert report.findings[0].startswith("No answer about sentiment")
    assert "As printed: Chikai et al. 2019" in rendered(report)
