"""Flags of raters who are known to be odd, and the ratings without them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from analysis import BadOption, RatingTable, rating_table
from analysis.raters.raters import RULES, profiles, without_flagged
from tests.analysis.examples import ratings, simulated

QUESTIONS = ("fluent", "kind", "sharp")
HONEST = 12


def planted(seed: int = 0) -> RatingTable:
    """Return scale and label answers of honest raters and one of each odd kind."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=(24, 3))
    yes = rng.integers(2, size=24)
    odd = ("one", "line", "row", "quick", "turned", "guess")
    rows: list[dict[str, object]] = []
    for rater in (*odd, *(f"honest{k}" for k in range(HONEST))):
        for item in range(24):
            noise = rng.normal(size=3) * 0.4
            given = np.clip(np.round(3 + 1.2 * truth[item] + noise), 1, 5)
            about: dict[str, object] = {
                "item": f"i{item}",
                "system": f"s{item % 3}",
                "rater": rater,
            }
            about["seconds"] = 8 if rater == "quick" else int(rng.integers(25, 60))
            values = _odd(rater, given, item)
            rows += [
                {**about, "question": question, "value": int(value)}
                for question, value in zip(QUESTIONS, values, strict=True)
            ]
            label = int(rng.integers(2)) if rater == "guess" else int(yes[item])
            rows.append({**about, "question": "sense", "value": label, "level": "nominal"})
    return ratings(rows)


def _odd(rater: str, given: np.ndarray, item: int) -> np.ndarray:
    if rater == "one":
        return np.full(3, 4)
    if rater == "line":
        return np.full(3, given[0])
    if rater == "row":
        return np.array([2, 4, 3])
    return 6 - given if rater == "turned" else given


def test_each_odd_rater_has_its_flag_and_honest_ones_none() -> None:
    flags = profiles(planted())["flags"].to_dict()
    expected = {
        "one": "one answer",
        "line": "straight lines",
        "row": "same rows",
        "quick": "quick",
        "turned": "against the others",
        "guess": "labels guessed",
    }
    for rater, flag in expected.items():
        assert flag in flags[rater].split(", "), rater
    assert {rater for rater, found in flags.items() if found} == set(expected)


def test_the_ratings_without_the_flagged_are_the_others() -> None:
    table = planted()
    kept = without_flagged(table, profiles(table))
    assert set(kept["rater"]) == {f"honest{k}" for k in range(HONEST)}
    assert len(kept) == HONEST * 24 * 4
    assert list(kept.columns) == list(table.columns)


def test_raters_of_pooled_campaigns_are_different_ones() -> None:
    first = planted().assign(campaign="a")
    again = planted(1).assign(campaign="b")
    again["answer"] = "b" + again["answer"]
    both = rating_table(pd.concat([first, again], ignore_index=True))
    found = profiles(both)
    assert "against the others" in found["flags"]["a/turned"]
    assert not without_flagged(both, found)["rater"].str.contains("turned").any()


def test_who_does_not_see_the_control_is_flagged() -> None:
    given = {"sees": [1, 1, 2, 1, 2, 4, 5, 4, 4, 5], "blind": [5, 1, 4, 2, 3, 3, 4, 2, 5, 1]}
    rows: list[dict[str, object]] = [
        {"system": "ab"[k // 5], "rater": rater, "value": value}
        for rater, values in given.items()
        for k, value in enumerate(values)
    ]
    found = profiles(ratings(rows), control="a")
    assert found["flags"].to_dict() == {"sees": "", "blind": "control not seen"}
    assert found["control_p"]["sees"] < 0.01
    assert (profiles(ratings(rows))["flags"] == "").all()
    with pytest.raises(BadOption, match="control is 'c'"):
        profiles(ratings(rows), control="c")


def test_a_rater_who_never_met_the_control_is_not_flagged_for_it() -> None:
    rows: list[dict[str, object]] = [
        {"system": system, "rater": rater, "value": k}
        for rater, systems in (("met", "ab"), ("never", "bc"))
        for k, system in enumerate(systems)
    ]
    found = profiles(ratings(rows), control="a")
    assert found["flags"].to_dict() == {"met": "control not seen", "never": ""}


def test_an_honest_campaign_has_hardly_a_flag() -> None:
    assert (profiles(simulated(seed=3))["flags"] == "").mean() > 0.95


def test_every_rule_says_when_it_holds() -> None:
    assert len({rule.flag for rule in RULES}) == len(RULES)
    assert all(rule.meaning for rule in RULES)


def test_an_empty_table_has_no_raters() -> None:
    empty = rating_table(simulated().iloc[:0])
    assert profiles(empty).empty
    assert without_flagged(empty, profiles(empty)).empty
