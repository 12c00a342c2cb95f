"""Every rater with flags, and means with and without the flagged."""

from __future__ import annotations

from analysis import rating_table, rendered
from analysis.reports.rater_quality import rater_quality
from tests.analysis.examples import crowd_campaign, simulated
from tests.analysis.raters.test_raters import HONEST, planted

FIVE = ("interesting", "fun", "consistent", "fluent", "topic")


def test_the_published_campaign() -> None:
    report = rater_quality(
        rating_table(crowd_campaign()), control="degraded_qc", control_questions=FIVE
    )
    assert report.findings[1].startswith("173 of 248 raters who judged degraded_qc rate it lower")
    by_rule, flagged, *compared, everybody = report.sections
    counts = by_rule.frame.set_index("flag")["raters"]
    assert counts["control not seen"] == 248 - 173
    assert len(flagged.frame) == 75
    assert len(everybody.frame) == 248
    assert len(compared) == 7, "a table for each scale question"
    first = compared[0].frame
    assert set(first["system"]) == set(crowd_campaign()["system"])
    assert first["n, all"].sum() == 1824
    assert "fluent" in " ".join(section.title for section in compared)


def test_planted_raters_are_told_with_their_facts() -> None:
    report = rater_quality(planted())
    flagged = report.sections[1].frame.set_index("rater")
    assert len(flagged) == 6
    assert flagged["pace"]["quick"] > 2
    assert flagged["competence (MACE)"]["guess"] < 0.5
    assert flagged["correlation"]["turned"] < 0
    everybody = report.sections[-1].frame
    assert len(everybody) == HONEST + 6
    assert "p of control" not in everybody.columns
    assert "Quality of raters" in rendered(report)


def test_nobody_flagged_leaves_nothing_to_compare() -> None:
    report = rater_quality(simulated())
    assert [section.title for section in report.sections] == [
        "0 of 60 raters have a flag; a flag is a reason to look",
        "All raters: 60",
    ]
    assert rater_quality(rating_table(simulated().iloc[:0])).sections == ()
