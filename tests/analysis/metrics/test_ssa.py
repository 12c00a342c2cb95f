"""SSA of the labels that MEENA prints, of votes, and of conversations."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from analysis import rating_table
from analysis.metrics.ssa import ssa
from analysis.stats.clustering import share_intervals
from tests.analysis.examples import cell, labels

# Adiwardana et al. 2020, tables 4 and 8: [sensible, specific] of nine sample responses.
MEENA = [(1, 1), (1, 1), (1, 0), (1, 1), (1, 1), (1, 1), (1, 1), (1, 1), (1, 1)]
GENERIC = [(1, 0), (0, 0), (0, 0), (1, 0), (0, 0), (1, 0), (0, 0), (0, 0), (1, 0)]


def _estimates(table: pd.DataFrame, system: str) -> dict[str, float]:
    rows = table[table["system"] == system]
    return dict(zip(rows["metric"], rows["estimate"], strict=True))


def _votes(
    item: str, sensible: list[int], specific: list[int]
) -> list[tuple[str, str, str, int, int]]:
    pairs = zip(sensible, specific, strict=True)
    return [("s", item, f"r{k}", a, b) for k, (a, b) in enumerate(pairs)]


def test_printed_labels_pooled() -> None:
    given = [("meena", f"i{k}", f"r{k}", a, b) for k, (a, b) in enumerate(MEENA)]
    given += [("generic", f"i{k}", f"r{k}", a, b) for k, (a, b) in enumerate(GENERIC)]
    found = ssa(labels(given))
    assert _estimates(found, "meena") == pytest.approx(
        {"sensibleness": 1, "specificity": 8 / 9, "ssa": 0.9444}, abs=5e-5
    )
    assert _estimates(found, "generic") == pytest.approx(
        {"sensibleness": 4 / 9, "specificity": 0, "ssa": 0.2222}, abs=5e-5
    )
    assert set(found["evaluation"]) == {"interactive"}
    assert set(found["n"]) == {9}


def test_a_majority_of_five_decides() -> None:
    given = _votes("a", [1, 1, 1, 0, 0], [1, 1, 0, 0, 0]) + _votes("b", [1] * 5, [1] * 5)
    found = ssa(labels(given))
    assert _estimates(found, "s") == {"sensibleness": 1.0, "specificity": 0.5, "ssa": 0.75}
    assert set(found["evaluation"]) == {"static"}
    assert set(found["votes"]) == {5}


def test_too_few_votes_and_ties_leave_an_item_open() -> None:
    given = _votes("a", [1] * 4, [1] * 4) + _votes("b", [0] * 4, [0] * 4)
    given += _votes("tie", [1, 1, 0, 0], [0] * 4) + _votes("few", [1] * 3, [1] * 3)
    found = ssa(labels(given))
    assert set(found["open_items"]) == {2}
    assert set(found["n"]) == {2}
    assert _estimates(found, "s")["sensibleness"] == 0.5


def test_votes_can_be_asked_for() -> None:
    given = _votes("a", [1] * 3, [1] * 3)
    assert set(ssa(labels(given), votes=5)["open_items"]) == {1}
    assert ssa(labels(given), votes=5)["reason"].str.startswith("every item is still open").all()


def test_a_column_tells_the_votes_before_they_are_in() -> None:
    """Without it, first votes of a static evaluation would look like an interactive one."""
    table = labels([("s", f"i{k}", "r", 1, 1) for k in range(3)])
    found = ssa(rating_table(table.assign(votes="5")))
    assert set(found["evaluation"]) == {"static"}
    assert set(found["open_items"]) == {3}


@pytest.mark.parametrize(("given", "decided"), [(1, 0), (3, 0), (4, 0), (5, 1), (6, 0), (7, 1)])
def test_an_item_is_decided_by_its_own_number_of_votes(given: int, decided: int) -> None:
    """Five are asked for of one, three of the other, whichever of them has the most; 3:3 ties."""
    sensible = [1, 1, 1, 0, 0, 0, 1][:given]
    table = labels(_votes("five", sensible, [0] * given) + _votes("three", [1] * 3, [1] * 3))
    asked = table["item"].map({"five": 5, "three": 3})
    found = ssa(rating_table(table.assign(votes=asked)))
    assert set(found["evaluation"]) == {"static"}
    assert set(found["votes"]) == {5}
    assert set(found["n"]) == {1 + decided}
    assert set(found["open_items"]) == {1 - decided}


def test_the_number_asked_for_is_by_protocol() -> None:
    """Static and interactive labels in one table are two evaluations."""
    static = labels(_votes("a", [1] * 3, [1] * 3), protocol="static")
    live = labels([("s", "b", "r", 1, 0)], protocol="live")
    both = pd.concat([static.assign(votes=5), live.assign(votes=1)], ignore_index=True)
    found = ssa(rating_table(both.assign(answer=[f"a{k}" for k in range(len(both))])))
    told = found.groupby("protocol")[["evaluation", "n", "open_items"]].first()
    assert list(told.loc["static"]) == ["static", 0, 1]
    assert list(told.loc["live"]) == ["interactive", 1, 0]


def test_a_column_without_numbers_reads_as_no_column() -> None:
    table = labels(_votes("a", [1] * 3, [1] * 3) + _votes("b", [1] * 2, [1] * 2))
    pd.testing.assert_frame_equal(ssa(rating_table(table.assign(votes=""))), ssa(table))


def test_specific_is_no_where_it_was_not_asked() -> None:
    table = labels([("s", "a", "r", 0, 0), ("s", "b", "q", 1, 1)])
    asked = rating_table(table[(table["item"] != "a") | (table["question"] == "sensible")])
    assert _estimates(ssa(asked), "s") == {"sensibleness": 0.5, "specificity": 0.5, "ssa": 0.5}


def test_intervals_are_over_conversations() -> None:
    """Ten turns of a conversation that are all alike are worth one, not ten."""
    rng = np.random.default_rng(2)
    talks = [(f"r{k}", int(rng.random() < 0.5)) for k in range(40)]
    together = [("s", f"{r}-{t}", r, a, a) for r, a in talks for t in range(10)]
    apart = [("s", f"{r}-{t}", f"{r}-{t}", a, a) for r, a in talks for t in range(10)]
    widths = []
    for given in (together, apart):
        row = ssa(labels(given)).iloc[0]
        widths.append(row["high"] - row["low"])
    assert widths[0] > 2.5 * widths[1]


def test_a_column_names_the_conversations() -> None:
    table = labels([("s", f"i{k}", "r", 1, k % 2) for k in range(8)])
    named = rating_table(table.assign(conversation=[f"c{k // 8}" for k in range(16)]))
    assert set(ssa(named)["clusters"]) == {2}
    assert ssa(table)["reason"].str.startswith("one item or conversation").all()


def test_messages_that_third_parties_judge_are_clustered_by_conversation() -> None:
    """Ten messages of a conversation on which all votes are alike are worth one, not ten."""
    rng = np.random.default_rng(3)
    talks = [(f"c{k}", int(rng.random() < 0.5)) for k in range(40)]
    votes = [
        ("s", f"{c}:{m}", f"r{v}", a, a) for c, a in talks for m in range(10) for v in range(5)
    ]
    table = labels(votes)
    named = rating_table(table.assign(conversation=table["item"].str.split(":").str[0]))
    plain, clustered = ssa(table).iloc[0], ssa(named).iloc[0]
    assert (plain["n"], plain["clusters"]) == (400, 400)
    assert (clustered["n"], clustered["clusters"]) == (400, 40)
    assert clustered["estimate"] == plain["estimate"]
    assert clustered["high"] - clustered["low"] > 2.5 * (plain["high"] - plain["low"])


def test_shares_of_a_known_chance_are_recovered() -> None:
    rng = np.random.default_rng(9)
    given = []
    for rater in range(100):
        for turn in range(7):
            sensible = int(rng.random() < 0.7)
            given.append(
                (
                    "s",
                    f"{rater}-{turn}",
                    f"r{rater}",
                    sensible,
                    int(sensible and rng.random() < 0.5),
                )
            )
    found = ssa(labels(given)).set_index("metric")
    for metric, truth in (("sensibleness", 0.7), ("specificity", 0.35), ("ssa", 0.525)):
        assert cell(found, metric, "low") < truth < cell(found, metric, "high")


def test_one_label_alone_is_not_ssa() -> None:
    table = labels([("s", "a", "r", 1, 1)])
    assert ssa(rating_table(table[table["question"] == "sensible"])).empty


def test_raters_who_vote_on_many_replies_make_the_interval_of_a_static_evaluation_longer() -> None:
    """The same votes by raters of their own for each reply say more than by a few of all."""
    rng = np.random.default_rng(5)
    lenient = rng.normal(0, 1.5, 5)
    yes = rng.random((60, 5)) < 1 / (1 + np.exp(-lenient))
    votes = [(f"i{i}", k, int(yes[i, k])) for i in range(60) for k in range(5)]
    few = [("s", item, f"r{k}", vote, vote) for item, k, vote in votes]
    many = [("s", item, f"{item}-{k}", vote, vote) for item, k, vote in votes]
    rows = [ssa(labels(given)).iloc[0] for given in (few, many)]
    assert rows[0]["estimate"] == rows[1]["estimate"]
    assert rows[0]["low"] < rows[1]["low"] < rows[1]["high"] < rows[0]["high"]


def test_a_static_evaluation_by_raters_of_one_reply_each_is_clustered_by_reply_alone() -> None:
    rng = np.random.default_rng(6)
    votes = rng.random((40, 5)) < rng.beta(2, 1, 40)[:, None]
    given = [("s", f"i{i}", f"{i}-{k}", int(votes[i, k]), 0) for i in range(40) for k in range(5)]
    found = ssa(labels(given))
    row = found[found["metric"] == "sensibleness"].iloc[0]
    majority = (votes.sum(axis=1) > 2).astype(float)
    (expected,) = share_intervals([(majority, [np.arange(40)])])
    assert (row["low"], row["high"]) == pytest.approx(tuple(expected))
