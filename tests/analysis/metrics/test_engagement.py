"""Live engagement from a synthetic log whose every figure is known."""

from __future__ import annotations

import pandas as pd
import pytest

from analysis import MessageTable, get_metric, records
from analysis.conversations.usage import logs, weekly_retained
from tests.analysis.talks import of_rows

engagement = get_metric("engagement")
START = pd.Timestamp("2026-01-05T09:00:00Z")


def _log(given: list[tuple[str, float, str]]) -> MessageTable:
    """Return messages from (user or "bot", minutes after the start, text), one talk per user."""
    rows: list[dict[str, object]] = []
    last = ""
    for k, (who, minutes, text) in enumerate(given):
        last = last if who == "bot" else who
        row = {"system": "bot" if who == "bot" else "human", "user": "" if who == "bot" else who}
        at = START + pd.Timedelta(minutes=minutes)
        rows.append(
            {**row, "conversation": last, "seq": k, "text": text, "sent_at": at.isoformat()}
        )
    return of_rows(rows)


def _found(table: MessageTable) -> dict[str, dict[str, object]]:
    rows: list[dict[str, object]] = records(engagement(table))
    return {str(row["metric"]): row for row in rows}


def _day(day: float) -> float:
    return day * 24 * 60


TWO_USERS = _log(
    [
        ("ann", 0, "hello"), ("bot", 0.1, "hi"),
        ("ann", 1, "I am so happy"), ("bot", 1.1, "good"),
        ("ann", 1.25, "ok"), ("bot", 1.3, "yes"),
        ("ann", 45, "yes"), ("bot", 45.1, "hm"),  # 43.7 minutes later: another session
        ("bob", 0, "you are shit"), ("bot", 0.5, "oh"),
        ("bob", 2, "I am sad"),
    ]
)  # fmt: skip


def test_sessions_users_and_turns_by_hand() -> None:
    found = _found(TWO_USERS)
    assert found["exchanges_per_session"]["estimate"] == pytest.approx((3 + 1 + 1) / 3)
    assert found["return_rate"]["estimate"] == 0.5
    assert found["active_days"]["estimate"] == 1.0
    estimates = {name: row["estimate"] for name, row in found.items()}
    assert estimates["turns_non_neutral"] == pytest.approx(2 / 6)
    assert estimates["turns_happiness"] == estimates["turns_sadness"] == pytest.approx(1 / 6)
    assert estimates["turns_anger"] == 0
    assert estimates["users_offensive"] == 0.5
    assert estimates["turns_offensive"] == pytest.approx(1 / 6)
    assert estimates["turns_assent"] == pytest.approx(2 / 6)
    # Gaps within sessions: 60 and 15 s of ann, 120 s of bob.
    assert estimates["gap_seconds"] == pytest.approx(65)
    assert found["gap_seconds"]["n"] == 3


def test_follow_ups_are_quick_or_starred() -> None:
    found = _found(
        _log(
            [
                ("ann", 0, "I like cts"),
                ("ann", 2 / 60, "cats"),
                ("ann", 1, "*a lot"),
                ("ann", 1.5, "and you?"),
                ("bot", 2, "yes"),
            ]
        )
    )
    assert found["turns_follow_up"]["estimate"] == pytest.approx(2 / 3)
    assert found["gap_seconds_without_follow_ups"]["estimate"] == pytest.approx(30)
    assert found["gap_seconds"]["reason"] == "one user only: no interval"


def test_days_and_retention_six_months_on() -> None:
    weekly = [(who, _day(day), "hello") for who in ("eve",) for day in range(0, 200, 5)]
    once = [("dan", _day(day), "hello") for day in (0, 180, 199)]
    late = [("kim", _day(day), "hello") for day in (150, 199)]
    table = _log([*weekly, *once, *late])
    (log,) = logs(table)
    assert weekly_retained(log).to_dict() == {"dan": False, "eve": True}
    found = _found(table)
    assert found["weekly_retention"]["estimate"] == 0.5
    assert (found["active_days"]["most"], found["active_days"]["n"]) == (40, 3)


def test_the_year_ends_after_a_year() -> None:
    table = _log([("eve", _day(day), "hello") for day in range(0, 730, 2)])
    assert _found(table)["active_days"]["estimate"] == 183


def test_a_short_log_has_no_retention_and_says_why() -> None:
    row = _found(TWO_USERS)["weekly_retention"]
    assert row["estimate"] is None
    assert row["reason"] == "no user's first contact is six months before the log ends"


def test_classifiers_can_be_given() -> None:
    found = engagement(
        TWO_USERS,
        emotion=lambda text: "anger" if text == "ok" else None,
        offends=lambda text: False,
    ).set_index("metric")["estimate"]
    assert found["turns_anger"] == pytest.approx(1 / 6)
    assert found["users_offensive"] == 0


def test_without_users_or_times_there_are_no_figures() -> None:
    assert engagement(TWO_USERS.drop(columns="user")).empty
    assert engagement(TWO_USERS.assign(sent_at="")).empty
