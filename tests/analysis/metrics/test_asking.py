"""Questions already answered, and the balance of asking and answering: by hand and planted."""

from __future__ import annotations

import json
from typing import Any

import pytest

from analysis import MessageTable, get_metric
from analysis.conversations.answered import is_answered
from tests.analysis.examples import shared
from tests.analysis.talks import Line, talks

asking = get_metric("asking")


def _values(table: MessageTable, side: str = "own messages") -> Any:
    found: Any = asking(table)
    return found[found["question"] == side].set_index(["system", "metric"])["estimate"].unstack()


@pytest.mark.parametrize(
    ("question", "before", "answered"),
    [
        ("what do you do for a living?", ["i work on computers"], True),
        ("what do you do for a living?", [], False),
        ("what do you do for a living?", ["do you work on computers?"], False),
        ("what do you do for a living?", ["my mother works"], False),
        ("What’s your name?", ["Hi. My name is Bo."], True),
        ("what do you do?", ["i'm from Ohio"], False),
        ("where are you from?", ["I'm from Ohio!"], True),
        ("do you have any pets?", ["well i have two old dogs"], True),
        ("do you have any pets?", ["my dad drives"], False),
        (
            "do you like horror movies?",
            ["yes, i love horror movies"],
            False,
        ),  # love is no stop word
        ("do you like horror movies?", ["i like horror movies a lot"], True),
        ("what is your favorite color?", ["my favorite color is green"], True),
        ("what is your favorite color?", ["my favorite food is greens"], False),
        ("你叫什么？", ["我叫小明"], False),  # rules are English
    ],
)
def test_what_answers_a_question(question: str, before: list[str], answered: bool) -> None:
    assert is_answered(question, before) is answered


def test_the_printed_question_counts_after_its_answer_only() -> None:
    asked, told = ("s", "what do you do for a living?"), ("human", "i work on computers")
    assert _values(talks([[told, asked]])).loc["s", "already_answered"] == 1
    assert _values(talks([[asked, told]])).loc["s", "already_answered"] == 0


def test_the_same_question_again_is_answered_in_any_language() -> None:
    def share(*lines: Line) -> float:
        return float(_values(talks([lines])).loc["s", "already_answered"])

    once, told = ("s", "你喜欢什么？"), ("human", "茶")
    assert share(once, told, once) == 0.5
    assert share(once, once) == 0  # nobody has answered
    assert share(("s", "And you?"), told, ("s", "and you?")) == 0


def test_another_judge_of_answers_can_be_given() -> None:
    found: Any = asking(
        talks([[("s", "Why?"), ("human", "so")]]), answered=lambda question, before: True
    )
    assert found.set_index("metric").loc["already_answered", "estimate"].max() == 1


ASKS = [("human", "So?"), ("s", "Who?"), ("human", "Why?"), ("s", "When?")]
ANSWERS = [("human", "So?"), ("t", "Yes."), ("human", "Why?"), ("t", "I like it.")]
BOTH = [("human", "So?"), ("u", "Yes."), ("human", "Tea."), ("u", "Why?")]


def test_the_balance_has_three_known_values() -> None:
    found = _values(talks([ASKS, ANSWERS, BOTH]))
    assert found["asking_balance"].to_dict() == {"s": 1.0, "t": 0.0, "u": 0.5}
    # One turn that answers and asks is as balanced as two that alternate.
    together = _values(talks([[("human", "So?"), ("u", "Yes. And you?")]]))
    assert together.loc["u", "asking_balance"] == 0.5
    # A statement answers nothing where nobody asked.
    alone = asking(talks([[("human", "So."), ("u", "Yes.")]])).set_index(["question", "metric"])
    assert alone.loc[("own messages", "asking_balance"), "reason"] == (
        "nothing to count in these messages"
    )


def test_the_distance_is_from_people_among_each_other_where_there_are_such() -> None:
    # scipy 1.17.1, wasserstein_distance([1.], [.5, .5]) = .5; against partners, who only ask, 0.
    alone = _values(talks([ASKS]))
    assert alone.loc["s", "distance_to_people"] == 0
    among = [("human", "So?"), ("human", "Yes. So?"), ("human", "Yes.")]
    rows = talks([ASKS, among])
    sides = rows["side"].where(rows["conversation"] == "c0", rows["seq"].mod(2).map(str))
    assert _values(MessageTable(rows.assign(side=sides))).loc["s", "distance_to_people"] == 0.5


def test_a_planted_share_of_answered_questions_is_found_in_people_s_chats() -> None:
    path = shared("personachat_dev", "dialogues.jsonl")
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()[:200]]
    given: list[list[Line]] = []
    for each in lines:
        told = [
            ("s" if turn["speaker"] == "self" else "human", turn["text"]) for turn in each["turns"]
        ]
        given.append(told)
    before = _values(talks(given)).loc["s", "already_answered"]
    planted = [
        [*told, ("human", "i work at a bank"), ("s", "where do you work?")] for told in given
    ]
    fresh = [[("s", "where do you work?"), *told] for told in given]
    after, nothing = (
        _values(talks(each)).loc["s", "already_answered"] for each in (planted, fresh)
    )
    assert before < 0.06  # people seldom ask again
    assert after - before > 0.2
    assert nothing <= before
