"""A table from which little follows is told so, in words."""

from __future__ import annotations

import re

import pytest

from analysis import RatingTable, evaluate, rating_table, summary
from analysis.scores.cautions import cautions
from tests.analysis.examples import cell, ratings, simulated

POOR = [
    (ratings([{"value": v, "rater": "r"} for v in (1, 2, 3)]), "only one rater (r)"),
    (ratings([{"value": v} for v in (1, 2, 3)]), "only one system (s)"),
    (ratings([{"value": 3, "system": f"s{k}"} for k in range(3)]), "every answer is 3"),
    (ratings([{"value": v} for v in (1, 2)]), "no scale ends are given; 1 to 2"),
    (ratings([{"value": 1, "campaign": "a"}, {"value": 2, "campaign": "b"}]), "2 campaigns are"),
    (
        ratings([{"value": 1, "excluded": "spam"}, {"value": 2, "excluded": ""}]),
        "1 rows are marked",
    ),
    (rating_table(simulated().iloc[:0]), "The table has no rows"),
    (ratings([{"value": 4}]), "only one rater"),
]


def test_campaigns_on_different_scales_are_told() -> None:
    both = [(1, "a"), (5, "a"), (80, "b"), (20, "b")]
    rows: list[dict[str, object]] = [{"value": v, "campaign": name} for v, name in both]
    told = " ".join(cautions(ratings(rows)))
    assert "different scales (a: 1 to 5; b: 20 to 80) but are analyzed as one" in told
    alike = [{**row, "value": int(str(row["value"])) % 5 + 1} for row in rows]
    assert "different scales" not in " ".join(cautions(ratings(alike)))


@pytest.mark.parametrize(("table", "told"), POOR)
def test_a_poor_table_is_told_and_still_computed(table: RatingTable, told: str) -> None:
    assert any(told in sentence for sentence in cautions(table))
    found = evaluate(table)
    assert len(found) > 0 or table.empty
    undefined = found[found["estimate"].isna()]
    assert undefined.empty or undefined["reason"].notna().all()
    assert summary(table).cautions == cautions(table)


def _spread(times: float) -> tuple[str, ...]:
    table = simulated()
    pair = (table["rater"].str[1:].astype(int) // 2).astype(str)
    shared = table.assign(value=times * table["value"].astype(float), item=table["system"] + pair)
    return cautions(RatingTable(shared))


def test_a_sound_table_has_none() -> None:
    assert _spread(1.18) == ()


def test_where_the_published_intervals_do_not_hold_is_told() -> None:
    (wide,) = _spread(1.0)
    (narrow,) = _spread(20.0)
    for told, way, least in ((wide, "wide", 1.1), (narrow, "narrow", 10)):
        said = re.search(r"([0-9.]+) times too (\w+) for", told)
        assert said is not None
        assert said[2] == way
        assert float(said[1]) > least


def test_a_sentence_about_many_questions_is_said_once() -> None:
    rows: list[dict[str, object]] = [
        {"value": value, "question": name}
        for name in ("fluency", "consistency")
        for value in (1, 2)
    ]
    said = [one for one in cautions(ratings(rows)) if "no scale ends" in one]
    assert len(said) == 1
    assert "consistency, fluency: no scale ends" in said[0]


def test_pooled_campaigns_keep_their_raters_apart() -> None:
    rows: list[dict[str, object]] = [
        {"value": value, "item": "i", "rater": "r", "campaign": name}
        for name, value in (("a", 1), ("b", 5))
    ]
    found = evaluate(ratings(rows)).set_index("metric")
    assert cell(found, "percent_agreement", "n") == 0


def test_few_answers_of_one_kind_are_told() -> None:
    def said(yes: int) -> bool:
        rows: list[dict[str, object]] = [
            {
                "value": float(k < (yes if system == "b" else 100)),
                "item": f"{system}{k // 2}",
                "rater": str(k % 2),
                "system": system,
                "level": "nominal",
            }
            for system in "ab"
            for k in range(200)
        ]
        return any("was given only 12 times for b;" in one for one in cautions(ratings(rows)))

    assert said(12)
    assert not said(100)
