"""Kinds of users' turns: the printed examples, their neighbors that are none, and a planted log."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from analysis import MessageTable, get_metric
from analysis.conversations.turn_kinds import KINDS, kinds
from analysis.conversations.usage import logs
from tests.analysis.talks import of_rows

turn_kinds = get_metric("turn_kinds")
START = pd.Timestamp("2026-01-30T23:59:00Z")
Entry = tuple[str, float, str]


def log_of(given: list[Entry]) -> MessageTable:
    """Return messages from (user or "bot", seconds after the start, text), in one conversation."""
    rows: list[dict[str, object]] = []
    for k, (who, seconds, text) in enumerate(given):
        row = {"system": "bot" if who == "bot" else "human", "user": "" if who == "bot" else who}
        at = START + pd.Timedelta(seconds=seconds)
        rows.append({**row, "seq": k, "text": text, "sent_at": at.isoformat()})
    return of_rows(rows)


def _last(*given: Entry) -> set[str]:
    (log,) = logs(log_of(list(given)))
    row = kinds(log).iloc[-1]
    return {name for name in KINDS if row[name]}


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ([("u", 0, "Wanna play"), ("u", 1, "Pubg?")], {"completion"}),
        ([("u", 0, "Wanna play"), ("u", 3, "Pubg?")], {"completion"}),
        ([("u", 0, "Wanna play"), ("u", 4, "Pubg?")], set()),
        ([("u", 0, "Wanna play"), ("u", 15, "Pubg?")], set()),
        ([("u", 0, "love you dudbe"), ("u", 2, "*dude")], {"correction"}),
        ([("u", 0, "love you dudbe"), ("u", 40, "dude*")], {"correction"}),
        ([("u", 0, "love you"), ("u", 40, "*laughs*")], set()),
        ([("u", 0, "*dude")], set()),
        (
            [("u", 0, "are you into comedy movies?"), ("bot", 5, "Yes!"), ("u", 20, "and horror?")],
            {"carried_topic"},
        ),
        ([("u", 0, "I sleep"), ("bot", 5, "Yes!"), ("u", 20, "and horror?")], set()),
        ([("bot", 0, "Are you going to watch it?"), ("u", 9, "yes")], {"follow_up"}),
        ([("bot", 0, "Do you study in class 12th?"), ("u", 9, "yes")], {"follow_up"}),
        ([("bot", 0, "You study."), ("u", 9, "yes")], set()),
        ([("bot", 0, "Do you study?"), ("u", 9, "yes, physics")], set()),
        ([("bot", 0, "I am a robot, dear."), ("u", 9, "a robot dear")], {"echo"}),
        ([("bot", 0, "I am a robot, dear."), ("u", 9, "robot dear")], set()),
        ([("bot", 0, "Haha!"), ("u", 9, "haha")], {"echo"}),
        (
            [("u", 0, "Who made you?"), ("bot", 2, "Me"), ("u", 9, "ok. who made you?")],
            {"repeated_question"},
        ),
        ([("u", 0, "I made you."), ("bot", 2, "Me"), ("u", 9, "Who made you?")], set()),
    ],
)
def test_printed_examples_and_what_is_next_to_them(given: list[Entry], found: set[str]) -> None:
    assert _last(*given) == found


def test_a_new_session_begins_with_nothing_before_it() -> None:
    half = 30 * 60
    asked = [("u", 0.0, "Who made you?"), ("bot", 1.0, "Me")]
    assert _last(*asked, ("u", half + 1.0, "Who made you?")) == {"repeated_question"}
    assert _last(*asked, ("u", half + 2.0, "Who made you?")) == set()


def test_other_scripts_have_questions_and_echoes() -> None:
    given = [("u", 0.0, "你是谁？"), ("bot", 4.0, "我是机器人"), ("u", 20.0, "你是谁？")]
    assert _last(*given) == {"repeated_question"}
    assert _last(("bot", 0, "我是机器人"), ("u", 9, "我是机器人")) == {"echo"}


DAYS = 24 * 3600.0
LOVERS = log_of(
    [
        ("u", 0, "I love you!"), ("bot", 1, "hi"),
        ("u", 30, "i LOVE you, so much"), ("u", 60.0, "glove you"),  # the second day begins here
        ("v", 2 * DAYS, "Will you marry me?"), ("v", 3 * DAYS, "are you a human?"),
        ("v", 4 * DAYS, "are you really a bot or are you a human"), ("v", 4.1 * DAYS, "marry me"),
    ]
)  # fmt: skip


def test_counts_per_day_and_month_of_a_known_log() -> None:
    found = turn_kinds(LOVERS).set_index("metric")
    assert set(found.loc["love_per_day", ["days", "count", "n"]]) == {6, 2, 7}
    assert found.loc["love_per_day", "estimate"] == pytest.approx(2 / 6)
    assert found.loc["proposal_per_month", "estimate"] == pytest.approx(365.25 / 12 / 6)
    assert found.loc["doubt_per_day", "count"] == 2


def test_phrases_can_be_others() -> None:
    found = turn_kinds(LOVERS, phrases={"glove": ["glove"]}).set_index("metric")
    assert found.loc["glove_per_day", "count"] == 1
    assert "love_per_day" not in found.index


def test_planted_shares_are_found_inside_their_intervals() -> None:
    rng = np.random.default_rng(7)
    given: list[Entry] = []
    planted = 0
    for user in range(40):
        at = 0.0
        for _ in range(25):
            quick = rng.random() < 0.3
            planted += quick
            at += 2.0 if quick else 20.0
            given.append((f"u{user}", at, f"word{len(given)}"))
    row = turn_kinds(log_of(given)).set_index("metric").loc["turns_completion"]
    # A user's first turn completes nothing, however quick.
    assert row["estimate"] == pytest.approx(planted / 1000, abs=0.02)
    assert row["low"] < 0.3 * 24 / 25 < row["high"]
    assert row["high"] - row["low"] < 0.1


def test_only_a_bot_has_no_turn_to_share() -> None:
    table = log_of([("u", 0, "hi"), ("bot", 1, "hi")]).assign(user="u").iloc[1:]
    found = turn_kinds(MessageTable(table))
    assert set(found["reason"].dropna()) == {"nothing to count in these messages"}
    assert found.set_index("metric").loc["love_per_day", "estimate"] == 0
