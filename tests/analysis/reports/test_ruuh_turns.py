"""Report of turn kinds: the print where there is no log, else counts by month and day."""

from __future__ import annotations

from analysis import get_report
from tests.analysis.metrics.test_turn_kinds import LOVERS
from tests.analysis.samples import EMPTY

ruuh_turns = get_report("ruuh_turns")


def test_counts_by_month_and_day_have_the_empty_ones_too() -> None:
    months, days = (
        section.frame.set_index(section.frame.columns[1])
        for section in ruuh_turns(LOVERS).sections[1:3]
    )
    assert months["love"].to_dict() == {"2026-01": 2, "2026-02": 0}
    assert months["doubt"].to_dict() == {"2026-01": 0, "2026-02": 2}
    assert days["love"].tolist() == [2, 0, 0, 0, 0, 0]
    assert days["proposal"].to_dict()["2026-02-01"] == 1


def test_without_users_only_the_print_is_left() -> None:
    report = ruuh_turns(EMPTY["messages"])
    assert "`user`" in report.findings[0]
    assert [section.is_printed for section in report.sections] == [True]
    assert set(report.sections[0].frame["printed"]) == {"> 600", "> 1,200"}
