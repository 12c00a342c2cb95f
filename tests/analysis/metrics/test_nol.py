"""NoL: 0 to 5, only where all five voted."""

import pytest

from analysis import RatingTable, get_metric, rating_table
from tests.analysis.cast import play, votes_of
from tests.analysis.examples import ratings

nol = get_metric("nol")


def _votes(*counts: tuple[int, int]) -> RatingTable:
    rows = [
        {"item": f"u{k}", "rater": f"r{j}", "value": int(j < yes), "system": "kim"}
        for k, (yes, given) in enumerate(counts)
        for j in range(given)
    ]
    return ratings(rows, question="likely", level="nominal")


def test_by_hand() -> None:
    (row,) = nol(_votes((0, 5), (5, 5), (1, 5), (4, 4))).to_dict("records")
    assert row["estimate"] == pytest.approx(2.0)
    assert (row["n"], row["open_items"], row["votes"]) == (3, 1, 5)
    assert [row[f"nol_{k}"] for k in range(6)] == [1, 1, 0, 0, 0, 1]
    assert row["inappropriate"] == pytest.approx(2 / 3)


def test_of_a_cast_by_character() -> None:
    table, _ = play()
    plain = votes_of(table).groupby("character")["value"].mean().to_dict()
    for row in nol(table).to_dict("records"):
        assert row["estimate"] == pytest.approx(plain[row["system"]])
        assert row["low"] < row["estimate"] < row["high"]
        assert row["n"] == 90


def test_without_enough_votes_it_says_so() -> None:
    found = nol(_votes((2, 6)))
    assert found["reason"].iloc[0] == "no utterance has 5 votes"


@pytest.mark.parametrize(("given", "n"), [(3, 1), (4, 2), (5, 1)])
def test_the_column_says_how_many_votes_an_utterance_needs(given: int, n: int) -> None:
    """Without it the most votes would be taken for all that were asked for."""
    table = _votes((4, 4), (1, given))
    (row,) = nol(rating_table(table.assign(votes=4))).to_dict("records")
    assert (row["n"], row["open_items"], row["votes"]) == (n, 2 - n, 4)
    assert row["nol_4"] == 1


def test_utterances_of_different_numbers_of_votes_have_no_mean() -> None:
    table = _votes((3, 3), (4, 4))
    asked = table["item"].map({"u0": 3, "u1": 4})
    (row,) = nol(rating_table(table.assign(votes=asked))).to_dict("records")
    assert row["reason"] == "NoL counts 3 and 4 votes of different utterances"
    assert row["estimate"] != row["estimate"]
