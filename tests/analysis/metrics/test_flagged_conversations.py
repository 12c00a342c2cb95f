"""The share flagged per system, with what for."""

from analysis import get_metric
from tests.analysis.talks import talks

flagged_conversations = get_metric("flagged_conversations")
GOOD = [
    ("s", "Hi! What do you do?"), ("human", "I teach chemistry at a school"),
    ("s", "Nice, do you like it?"), ("human", "Most days, yes, and you?"),
    ("s", "I paint houses"), ("human", "That must be hard in winter"),
]  # fmt: skip
BAD = [("s", "Hi! What do you do?"), ("human", "bye")]


def test_by_hand() -> None:
    (row,) = flagged_conversations(talks([GOOD, GOOD, BAD])).to_dict("records")
    assert (row["system"], row["estimate"], row["n"]) == ("s", 1 / 3, 3)
    assert row["reasons"] == "few_exchanges 1, short_messages 1"
    assert row["low"] < 1 / 3 < row["high"]


def test_a_system_that_nobody_talked_with_has_none() -> None:
    assert flagged_conversations(talks([[("a", "hi"), ("b", "hi")]])).empty
