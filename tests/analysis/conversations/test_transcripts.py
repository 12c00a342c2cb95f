"""Messages as conversations: whose they are, what is left out, and intervals of ratios."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from analysis import evaluate
from analysis.conversations.transcripts import OWN, PARTNER, mean_per, placed, sides
from analysis.metrics.message_length import message_length
from analysis.stats.intervals import rate_interval
from tests.analysis.talks import meena, of_rows, talks, volunteer_messages


def test_both_sides_of_a_bot_and_one_of_people() -> None:
    table = talks(
        [[("bot", "Hi!"), ("human", "Hello")], [("human", "Hey"), ("human", "Hey you")]],
    ).assign(side=["0", "1", "0", "1"])
    found = {(side.system, side.question): side.conversations for side in sides(table)}
    assert found == {
        ("bot", OWN): (("Hi!",),),
        ("bot", PARTNER): (("Hello",),),
        ("human", OWN): (("Hey",), ("Hey you",)),
    }


def test_two_bots_are_looked_at_each_for_itself() -> None:
    found = {side.system: side.texts for side in sides(talks([[("a", "x"), ("b", "y")]]))}
    assert found == {"a": ("x",), "b": ("y",)}


def test_what_is_set_aside_or_given_does_not_count() -> None:
    rows: list[dict[str, object]] = [
        {"text": "kept", "excluded": ""},
        {"text": "left", "excluded": "screened out"},
        {"text": "context", "system": "", "excluded": ""},
    ]
    assert list(placed(of_rows(rows))["text"]) == ["kept"]


def test_an_export_says_whom_a_conversation_is_about() -> None:
    rows: list[dict[str, object]] = [
        {"system": "human", "partner_of": "bot", "text": "nobody answered"}
    ]
    (side,) = sides(of_rows(rows))
    assert (side.system, side.question) == ("bot", PARTNER)


def test_with_one_message_each_the_interval_is_that_of_a_mean() -> None:
    values = [3.0, 5.0, 4.0, 8.0, 1.0]
    row = mean_per([(value, 1.0) for value in values])
    expected = rate_interval(float(np.mean(values)), float(stats.sem(values)), 4)
    assert (row["low"], row["high"]) == pytest.approx(expected)
    assert row["estimate"] == pytest.approx(4.2)


def test_what_has_no_interval_says_why() -> None:
    assert mean_per([])["reason"] == "nothing to count in these messages"
    assert mean_per([(1.0, 2.0)])["reason"] == "one conversation only: no interval"
    assert mean_per([(1.0, 2.0), (2.0, 4.0)])["reason"] is not None


def test_intervals_cover_the_share_that_they_estimate() -> None:
    rng = np.random.default_rng(7)
    covered = 0
    for _ in range(400):
        lengths = rng.integers(4, 12, size=30)
        chances = rng.beta(4, 8, size=30)
        row = mean_per(
            [(rng.binomial(n, p), n) for n, p in zip(lengths, chances, strict=True)], most=1.0
        )
        covered += float(str(row["low"])) <= 1 / 3 <= float(str(row["high"]))
    assert 0.92 < covered / 400 < 0.98


def test_published_conversations_have_their_published_counts() -> None:
    found = message_length(meena("meena"))
    words = found[found["metric"] == "words_per_message"]
    assert list(zip(words["n"], words["conversations"], strict=True)) == [(909, 93), (909, 93)]
    human = message_length(meena("human"))
    assert set(zip(human["n"], human["system"], strict=True)) == {(1483, "human")}


def test_messy_chats_give_finite_numbers_or_reasons() -> None:
    found = evaluate(messages=volunteer_messages())
    assert found["system"].nunique() == 11
    missing = found[found["estimate"].isna()]
    assert missing["reason"].notna().all()
    assert all(math.isfinite(value) for value in found["estimate"].dropna())
