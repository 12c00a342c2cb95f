"""Reports over a study: people beside bots, two panels on the same messages, the same replies."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd
import pytest

from analysis import RatingTable, get_report, rating_table
from analysis.registry import of_studies
from tests.analysis.examples import ratings

meena_ssa = get_report("meena_ssa")
Labels = Iterable[tuple[str, int, int]]  # of a message: rater, sensible, specific


def _campaign(
    name: str, protocol: str, system: str, messages: Iterable[tuple[int, Labels]], votes: int
) -> pd.DataFrame:
    rows = [
        {
            "item": f"{conversation}:2",
            "conversation": str(conversation),
            "message_seq": "2",
            "rater": rater,
            "system": system,
            "question": question,
            "value": value,
        }
        for conversation, labels in messages
        for rater, *both in labels
        for question, value in zip(("sensible", "specific"), both, strict=True)
    ]
    made = ratings(rows, level="nominal", protocol=protocol)
    return made.assign(campaign=name, phase=f"phase {name}", votes=votes, context="")


def _study(*parts: pd.DataFrame) -> RatingTable:
    table = pd.concat(parts, ignore_index=True)
    return rating_table(table.assign(answer=[f"a{k}" for k in range(len(table))]))


BOT = _campaign(
    "c1",
    "meena_interactive",
    "bot",
    [(k, [(f"w{k}", int(k < 6), int(k < 2))]) for k in range(10)],
    1,
)
PEOPLE = _campaign(
    "c2",
    "meena_third_party",
    "human",
    [(100 + k, [(r, 1, int(k < 5)) for r in "abc"]) for k in range(10)],
    3,
)
AGAIN = _campaign(
    "c3",
    "meena_second_panel",
    "bot",
    [(k, [("x", 1, 0), ("y", int(k < 2), 0)]) for k in range(4)],
    2,
)


def test_reports_of_studies_are_known_by_their_files() -> None:
    assert {"meena_ssa", "meena_repeatability", "meena_human_likeness", "convai2_blind"} <= set(
        of_studies()
    )


def test_people_stand_beside_the_bots_they_are_compared_with() -> None:
    report = meena_ssa(_study(BOT, PEOPLE, AGAIN))
    (section,) = (each for each in report.sections if each.key == "people")
    assert section.title == "People beside bots: interactive, people 75.0 %, bot 40.0 %"
    table = section.frame.set_index("system")
    assert list(table.index) == ["human", "bot"]
    assert set(table["evaluation"]) == {"interactive"}
    assert table["n"].to_dict() == {"human": 10, "bot": 10}, "the first panel has more messages"
    assert table["below people"].to_dict() == pytest.approx({"human": 0, "bot": 35})


@pytest.mark.parametrize("parts", [(BOT,), (PEOPLE,), (BOT, AGAIN)])
def test_without_people_and_bots_there_is_nothing_to_compare(parts: tuple[pd.DataFrame]) -> None:
    assert "people" not in {each.key for each in meena_ssa(_study(*parts)).sections}


def test_both_panels_are_shown_on_the_messages_that_both_labeled() -> None:
    report = meena_ssa(_study(BOT, PEOPLE, AGAIN))
    (section,) = (each for each in report.sections if each.key == "panels")
    table = section.frame.set_index("panel")
    assert table["messages"].to_dict() == {"phase c1": 4, "phase c3": 4}
    assert table["raters"].to_dict() == {"phase c1": 4, "phase c3": 2}
    scores = table[["sensibleness", "specificity", "ssa"]].to_dict("index")
    assert list(scores["phase c1"].values()) == [100, 50, 75]
    assert list(scores["phase c3"].values()) == [75, 0, 37.5]
    assert section.title.endswith("bot 75.0 % (phase c1), 37.5 % (phase c3)")


def test_one_panel_has_no_second_row() -> None:
    assert "panels" not in {each.key for each in meena_ssa(_study(BOT, PEOPLE)).sections}


def test_human_likeness_is_of_the_replies_that_both_questions_were_asked_about() -> None:
    names = ("a", "b", "c")
    labels: list[dict[str, object]] = [
        {
            "item": f"x{k}",
            "context": f"k{k}",
            "rater": "r",
            "system": name,
            "question": question,
            "value": int(k < 2 + place),
        }
        for place, name in enumerate(names)
        for k in range(4)
        for question in ("sensible", "specific")
    ]
    like: list[dict[str, object]] = [
        {
            "item": f"other{k}",
            "context": f"k{k}",
            "rater": "s",
            "system": name,
            "question": "human_like",
            "value": int(k > 2),
        }
        for name in names
        for k in range(2, 5)
    ]
    table = _study(
        ratings(labels, level="nominal", protocol="meena_static").assign(campaign="c1", votes=1),
        ratings(like, level="nominal", protocol="meena_human_like").assign(campaign="c2", votes=1),
    )
    points = get_report("meena_human_likeness")(table).sections[1].frame.set_index("system")
    assert points["human-like"].to_dict() == {"a": 50, "b": 50, "c": 50}, "k4 has no labels"
    assert points["ssa"].to_dict() == {"a": 0, "b": 50, "c": 100}, "k0 and k1 were not asked about"
