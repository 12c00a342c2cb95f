"""Mimicry of a system's length, and people's length without it: planted, and edges."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from analysis import MessageTable, get_metric
from analysis.conversations.mimicry import per_conversation
from tests.analysis.talks import Line, talks

human_length = get_metric("human_length")


def _words(count: float) -> str:
    return " ".join(["tea"] * max(round(count), 1))


def drawn(
    lengths: dict[str, float], slope: float, *, seed: int = 3, each: int = 40, noise: float = 1.0
) -> MessageTable:
    """Return chats of systems of these mean lengths; people write 6 + slope times the system's."""
    rng = np.random.default_rng(seed)
    given: list[list[Line]] = []
    for system, mean in lengths.items():
        for _ in range(each):
            lines: list[Line] = []
            habit = rng.normal(0, 2 * noise)
            for _ in range(8):
                own = max(round(mean + rng.normal(0, 4)), 1)
                lines.append((system, _words(own)))
                told = 10 + habit + slope * own + rng.normal(0, noise)
                lines.append(("human", _words(told)))
            given.append(lines)
    return talks(given)


def _found(table: MessageTable) -> Any:
    return human_length(table).set_index(["metric", "system"])


def test_planted_mimicry_is_recovered_per_conversation_and_in_all() -> None:
    table = drawn({"s": 15}, 0.5, noise=0.0, each=6)
    slopes = per_conversation(table)
    assert len(slopes) == 6
    # Rounding to whole words leaves up to .03.
    assert slopes["slope"].tolist() == pytest.approx([0.5] * 6, abs=0.05)
    row = _found(drawn({"s": 15}, 0.5)).loc[("mimicry", "s")]
    assert row["low"] < 0.5 < row["high"]
    assert row["high"] - row["low"] < 0.1
    assert (row["n"], row["conversations"]) == (320, 40)
    nothing = _found(drawn({"s": 15}, 0.0)).loc[("mimicry", "s")]
    assert nothing["low"] < 0 < nothing["high"]


def test_a_system_that_only_writes_long_gains_nothing() -> None:
    found = _found(drawn({"long": 24, "short": 10}, 0.5))
    one, other = (found.loc[("length_without_mimicry", name)] for name in ("long", "short"))
    assert abs(one["estimate"] - other["estimate"]) < 1.5  # people's own habits differ by 2
    assert max(one["low"], other["low"]) < min(one["high"], other["high"])
    # A system that people write more to, whatever it writes, keeps its gain.
    table = drawn({"long": 24, "short": 10}, 0.5)
    liked = table["conversation"].isin(set(table.loc[table["system"] == "short", "conversation"]))
    mine = liked & (table["system"] == "human")
    more = MessageTable(table.assign(text=table["text"].where(~mine, table["text"] + " tea" * 5)))
    found = _found(more)["estimate"]
    gain = found["length_without_mimicry", "short"] - found["length_without_mimicry", "long"]
    assert 3.5 < gain < 6.5


def test_the_slope_is_statsmodels_with_conversation_effects() -> None:
    # statsmodels 0.15.0: smf.ols("h ~ b + C(c)", data).fit().params["b"] = 1.0625
    lengths = [[(1, 3), (3, 5), (2, 3)], [(5, 9), (6, 9), (9, 13)]]
    given = [
        [line for b, h in one for line in (("s", _words(b)), ("human", _words(h)))]
        for one in lengths
    ]
    assert _found(talks(given)).loc[("mimicry", "s"), "estimate"] == pytest.approx(1.0625)


def test_what_cannot_be_told_has_a_reason() -> None:
    def reason(*given: list[Line]) -> dict[str, object]:
        found = human_length(talks(given)).set_index("metric")
        return dict(found["reason"])

    one = [("s", "a b"), ("human", "a"), ("s", "a"), ("human", "a b"), ("s", "a"), ("human", "a")]
    assert set(reason(one).values()) == {"one conversation only: no interval"}
    flat = [("s", "a b"), ("human", "a"), ("s", "b a"), ("human", "a b")]
    assert set(reason(flat).values()) == {
        "no conversation has messages of the system of different length before answers"
    }
    assert human_length(talks([[("s", "a b")]])).empty  # nobody answers


def test_a_message_after_one_s_own_answers_nothing() -> None:
    given = [("s", "a b"), ("human", "a"), ("human", "a b c"), ("s", "c"), ("human", "d")]
    assert set(human_length(talks([given]))["n"]) == {2}
