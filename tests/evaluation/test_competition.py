"""Competitions: rules and submissions as data, one a month, and what must be declared."""

from __future__ import annotations

import json
from datetime import date
from typing import Any

import pytest

from evaluation.competition import (
    InvalidEntry,
    beats,
    refusal,
    rules_of,
    submission_of,
    to_json,
)

RULES = {"opens": "2018-04-21", "closes": "2018-09-30", "baseline": "kv-baseline"}
ENTRY: dict[str, Any] = {
    "team": "team-1",
    "bot": "parrot",
    "metrics": ["F1"],
    "data": [{"name": "PERSONA-CHAT", "public": True, "where": "https://example.org"}],
    "ensemble": False,
}


def complaints(**changes: Any) -> dict[str, str]:
    content = {name: value for name, value in (ENTRY | changes).items() if value is not None}
    with pytest.raises(InvalidEntry) as refused:
        submission_of(content, rules_of(RULES))
    return refused.value.problems


def test_rules_and_submissions_come_back_from_json() -> None:
    rules = rules_of(RULES)
    assert (rules.metrics, rules.advance, rules.candidates) == (("ppl", "hits@1", "F1"), 7, 20)
    assert rules_of(json.loads(json.dumps(to_json(rules)))) == rules
    entry = submission_of(ENTRY, rules)
    assert submission_of(json.loads(json.dumps(to_json(entry))), rules) == entry


def test_sources_and_ensembling_have_to_be_declared() -> None:
    assert complaints(data=None, ensemble=None) == {
        "data": "is missing",
        "ensemble": "is missing",
    }
    assert "list all that the system learned from" in complaints(data=[])["data"]
    assert "true or false" in complaints(ensemble="no")["ensemble"]


def test_data_that_is_not_public_is_refused_by_name() -> None:
    secret = {"name": "our logs", "public": False, "where": "here"}
    told = complaints(data=[*ENTRY["data"], secret])["data"]
    assert told.endswith("our logs is not public; only public data may be learned from")


@pytest.mark.parametrize("metrics", [[], ["BLEU"], ["F1", "F1"], "F1"])
def test_metrics_are_chosen_from_the_rules(metrics: object) -> None:
    assert "one or more of ppl, hits@1, F1" in complaints(metrics=metrics)["metrics"]


@pytest.mark.parametrize("team", ["my-baseline", "human"])
def test_a_team_is_not_called_as_what_reports_do_not_rank(team: str) -> None:
    assert "choose another name" in complaints(team=team)["team"]


def test_an_unknown_field_and_a_bad_name_are_named() -> None:
    assert set(complaints(team="Team 1", score=3)) == {"team", "score"}


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"closes": "2018-04-20"}, "closes"),
        ({"opens": "soon"}, "opens"),
        ({"advance": 0}, "advance"),
        ({"advance": 20}, "advance"),
        ({"candidates": 1}, "candidates"),
        ({"baseline": ""}, "baseline"),
        ({"baseline": "kv"}, "baseline"),
    ],
)
def test_rules_that_make_no_sense_are_refused(changes: dict[str, Any], name: str) -> None:
    with pytest.raises(InvalidEntry) as refused:
        rules_of(RULES | changes)
    assert list(refused.value.problems) == [name]


@pytest.mark.parametrize(
    ("today", "taken"),
    [
        (date(2018, 4, 20), False),
        (date(2018, 4, 21), True),
        (date(2018, 9, 30), True),
        (date(2018, 10, 1), False),
    ],
)
def test_the_round_has_a_first_and_a_last_day(today: date, taken: bool) -> None:
    assert (refusal("a", rules_of(RULES), [], today) is None) is taken


def test_a_second_submission_in_a_month_is_refused_with_the_day_of_the_next() -> None:
    rules, first = rules_of(RULES), [date(2018, 5, 3)]
    told = refusal("a", rules, first, date(2018, 5, 31))
    assert told is not None
    assert told.endswith("2018-05-03, and may do so once a month; the next submission is "
                         "possible from 2018-06-01")  # fmt: skip
    assert refusal("a", rules, first, date(2018, 6, 1)) is None
    last = refusal("a", rules, [date(2018, 9, 1)], date(2018, 9, 30))
    assert last is not None
    assert last.endswith("the round closes on 2018-09-30")


def test_december_is_followed_by_january() -> None:
    rules = rules_of(RULES | {"closes": "2019-03-01"})
    told = refusal("a", rules, [date(2018, 12, 1)], date(2018, 12, 2))
    assert told is not None
    assert told.endswith("2019-01-01")


def test_a_low_perplexity_is_better_and_one_metric_is_enough() -> None:
    base = {"ppl": 40.0, "F1": 12.0}
    assert beats({"ppl": 39.9, "F1": 1.0}, base)
    assert beats({"F1": 12.1}, base)
    assert not beats({"ppl": 40.0, "F1": 12.0}, base)
    assert not beats({"hits@1": 90.0}, base)
