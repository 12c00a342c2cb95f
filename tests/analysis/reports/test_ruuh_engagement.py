"""The engagement report: every figure beside those printed."""

from __future__ import annotations

from analysis import get_report
from tests.analysis.metrics.test_engagement import TWO_USERS

ruuh_engagement = get_report("ruuh_engagement")


def test_figures_and_ratios() -> None:
    report = ruuh_engagement(TWO_USERS.assign(text=TWO_USERS["text"].replace("hello", "I hate it")))
    figures, ratios, printed = (section.frame for section in report.sections)
    assert report.findings == ("bot: 1.7 exchanges per session.",)
    assert len(figures) == 14
    row = ratios.iloc[0]
    assert (row["turns_anger"], row["turns_sadness"], row["turns_happiness"]) == (1, 1, 1)
    assert "1 : 3 : 7" in set(printed["printed"])


def test_without_users_only_the_print_is_left() -> None:
    report = ruuh_engagement(TWO_USERS.drop(columns="user"))
    assert report.findings[0].startswith("No message has a user")
    assert len(report.sections) == 1
