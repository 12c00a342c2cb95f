"""Majorities: decided by all the votes asked for, item by item, and never by a tie."""

from __future__ import annotations

import pandas as pd
import pytest

from analysis.scores.majorities import majority, votes_wanted


def _one(yes: int, given: int, asked: int) -> float:
    shares, sizes, wanted = (pd.Series([value]) for value in (yes / given, given, asked))
    return float(majority(shares, sizes, wanted).iloc[0])


@pytest.mark.parametrize(
    ("yes", "given", "decided"),
    [(4, 4, None), (3, 5, 1.0), (2, 5, 0.0), (4, 6, 1.0), (2, 6, 0.0), (3, 6, None)],
)
def test_five_votes_decide_and_fewer_or_a_tie_do_not(
    yes: int, given: int, decided: float | None
) -> None:
    found = _one(yes, given, asked=5)
    assert found == decided if decided is not None else found != found


def test_each_item_has_a_number_of_its_own() -> None:
    rows = pd.DataFrame({"item": ["a", "a", "b", "c"], "votes": [3.0, 3.0, None, 1.0]})
    assert votes_wanted(rows, ["item"], 7).to_dict() == {"a": 3, "b": 7, "c": 1}


def test_a_table_that_does_not_say_gives_all_items_the_same() -> None:
    rows = pd.DataFrame({"item": ["a", "a", "b"]})
    assert votes_wanted(rows, ["item"], 7).to_dict() == {"a": 7, "b": 7}
