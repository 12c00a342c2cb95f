"""Answers by turn: which are about messages, and what the summary says of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from analysis import evaluate, rating_table
from analysis.conversations import turns
from analysis.output.summary import composed
from analysis.report import Section
from analysis.scores.question_ratings import questions
from analysis.simulation.campaigns import Design
from analysis.simulation.cases import shares
from analysis.stats.clustering import codes, share_intervals
from analysis.tables.schema import RatingTable

FALLING = Design(systems=2, conversations=60, drift=-0.6, base=1.5)


Row = tuple[int | str, str, str, float]


def labeled(*rows: Row) -> RatingTable:
    """Return answers about messages: place in the log, conversation, system, value."""
    frame = pd.DataFrame(rows, columns=["message_seq", "conversation", "system", "value"])
    count, rater = np.arange(len(frame)).astype(str), "r" + frame["conversation"]
    item = frame["conversation"] + ":" + frame["message_seq"].astype(str)
    named = frame.assign(answer=count, item=item, campaign="c", protocol="p", question="sensible")
    return rating_table(named.assign(level="nominal", rater=rater, place=0))


def of_messages(ratings: RatingTable) -> pd.DataFrame:
    (asked,) = questions(ratings, "nominal")
    return turns.of_messages(asked)


def summarized(ratings: RatingTable) -> list[Section]:
    found = composed(ratings, evaluate(ratings)).sections
    return [each for each in found if each.key.startswith("turns-")]


def test_turns_are_counted_over_the_messages_that_were_judged() -> None:
    found = of_messages(
        labeled(
            (9, "12", "a", 1.0),
            (2, "12", "a", 0.0),
            (4, "12", "b", 1.0),
            (5, "7", "a", 1.0),
        )
    )
    assert found[["system", "turn", "value"]].to_numpy().tolist() == [
        ["a", 2, 1.0], ["a", 1, 0.0], ["b", 1, 1.0], ["a", 1, 1.0],
    ]  # fmt: skip
    assert found["conversation"].nunique() == 2


@pytest.mark.parametrize("seq", ["", "later"])
def test_what_names_no_message_has_no_turn(seq: str) -> None:
    assert of_messages(labeled((seq, "12", "a", 1.0))).empty
    named = ("4", "12", "a", 0.0), ("6", "12", "a", 1.0)
    found = of_messages(labeled((seq, "12", "a", 1.0), *named))
    assert found[["turn", "value"]].to_numpy().tolist() == [[1, 0.0], [2, 1.0]]


def test_campaigns_that_are_pooled_keep_conversations_of_the_same_number_apart() -> None:
    one = labeled((2, "1", "a", 1.0), (4, "1", "a", 0.0))
    other = one.assign(campaign="d", answer=["2", "3"])
    both = rating_table(pd.concat([one, other], ignore_index=True))
    found = of_messages(both)
    assert found["conversation"].nunique() == 2
    assert sorted(found["turn"]) == [1, 1, 2, 2]


def test_the_summary_says_who_falls_and_has_the_share_of_every_turn() -> None:
    ratings = shares.by_turn(FALLING, np.random.default_rng(1))
    (section,) = summarized(ratings)
    assert "falls by" in section.title
    assert section.appendix
    assert section.chart is not None
    assert {row["series"] for row in section.chart.rows} == {"system 0", "system 1"}
    first = section.frame.iloc[0]
    known = ratings[(ratings["system"] == "system 0") & (ratings["message_seq"] == 2)]
    assert (first["turn"], first["share of yes"]) == (1, known["value"].mean())
    assert (first["n"], first["conversations"]) == (60, 60)


def test_the_interval_of_a_turn_is_that_of_clustered_shares() -> None:
    ratings = shares.by_turn(replace(FALLING, systems=1), np.random.default_rng(2))
    (section,) = summarized(ratings)
    groups = []
    for turn in section.frame["turn"]:
        known = ratings[ratings["message_seq"] == 2 * turn]
        by = [codes(known["conversation"]), codes(known["rater"])]
        groups.append((known["value"].to_numpy(dtype=float), by))
    ends = [(low, high) for low, high in share_intervals(groups)]
    found = section.frame[["low", "high"]].to_numpy()
    assert found == pytest.approx(np.array(ends), abs=0.02)


def test_answers_on_a_scale_have_means() -> None:
    ratings = shares.by_turn(FALLING, np.random.default_rng(1))
    scaled = ratings.assign(level="ordinal", value=1 + 4 * ratings["value"])
    (section,) = summarized(RatingTable(scaled))
    assert "falls by" in section.title
    assert "points" not in section.title
    assert section.frame["mean"].between(1, 5).all()


@pytest.mark.parametrize("answers", [("red", "blue"), (1.0, 3.0)])
def test_categories_have_neither_means_nor_turns(answers: tuple[object, object]) -> None:
    ratings = shares.by_turn(FALLING, np.random.default_rng(1))
    named = ratings["value"].map({0.0: answers[0], 1.0: answers[1]})
    table = rating_table(ratings.assign(value=named))
    assert of_messages(table).empty
    assert summarized(table) == []


def test_a_turn_of_few_conversations_is_not_told() -> None:
    reached = {2: 6, 4: 6, 6: turns.FEWEST - 1}
    few = [
        (seq, str(talk), "a", 1.0 * (talk > seq))
        for seq, talks in reached.items()
        for talk in range(talks)
    ]
    (section,) = summarized(labeled(*few))
    assert section.frame["turn"].tolist() == [1, 2]


def test_what_is_asked_once_a_conversation_has_no_turns() -> None:
    assert summarized(labeled(*(("", str(talk), "a", 1.0) for talk in range(8)))) == []
