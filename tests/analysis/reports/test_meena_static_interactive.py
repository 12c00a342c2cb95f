"""Static against interactive: printed differences, planted ones, and systems that are no pair."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest

from analysis import MessageTable, RatingTable, Report, get_report, message_table, rating_table
from tests.analysis.examples import labels

NAME = "meena_static_interactive"


def live(system: str, sensible: int, specific: int, *, talks: int = 20) -> pd.DataFrame:
    """Return ten labeled turns of each conversation: so many sensible, so many of them specific."""
    given = [
        (system, f"{system}{talk}:{seq}", f"w{talk}", int(seq < sensible), int(seq < specific))
        for talk in range(talks)
        for seq in range(10)
    ]
    table = labels(given, protocol="meena_interactive")
    place = table["item"].str.split(":")
    return table.assign(
        campaign="live", context="", conversation=place.str[0], message_seq=place.str[1]
    )


def static(system: str, sensible: int, specific: int, *, items: int = 20) -> pd.DataFrame:
    """Return items of three votes of one mind."""
    given = [
        (system, f"c{item}", f"v{rater}", int(item < sensible), int(item < specific))
        for item in range(items)
        for rater in range(3)
    ]
    table = labels(given, protocol="meena_static").assign(campaign="still", context="k")
    return table.assign(conversation=f"{system} " + table["item"], message_seq="2")


def study(*tables: pd.DataFrame) -> RatingTable:
    table = pd.concat(tables, ignore_index=True)
    return rating_table(table.assign(answer=[f"a{k}" for k in range(len(table))]))


def made(ratings: RatingTable, messages: MessageTable | None = None) -> Report:
    return get_report(NAME)(ratings, messages)


def section(report: Report, title: str) -> Any:
    (found,) = (each.frame for each in report.sections if each.title.startswith(title))
    return found


def test_the_printed_scores_have_the_printed_differences() -> None:
    found = section(made(study(live("a", 5, 3))), "As printed: interactive less static").set_index(
        "system"
    )
    assert found.loc["Human", "ssa"] == 4
    assert found.loc["DialoGPT 762M", "ssa"] == -3
    assert found.loc["Cleverbot", "ssa"] == 12
    assert found.loc["Cleverbot", "specificity"] == 17
    assert np.isnan(found.loc["Cleverbot", "sensibleness"])
    assert {"Mitsuku", "GenericBot"}.isdisjoint(found.index)


def test_planted_differences_lie_in_their_intervals() -> None:
    table = study(live("a", 8, 6), static("a", 12, 8), live("b", 5, 3), static("b", 16, 2))
    found = made(table)
    rows: Any = found.sections[0].frame.set_index(["system", "score"])
    assert found.findings == ("Interactive less static SSA, in points: a +20.0, b -5.0.",)
    for key, gap in {
        ("a", "sensibleness"): 20,
        ("a", "specificity"): 20,
        ("b", "sensibleness"): -30,
        ("b", "specificity"): 20,
        ("b", "ssa"): -5,
    }.items():
        assert rows.loc[key, "difference"] == pytest.approx(gap)
        assert rows.loc[key, "low"] < gap < rows.loc[key, "high"]
    assert rows.loc[("a", "ssa"), ["n interactive", "n static"]].tolist() == [200, 20]
    assert "Systems that are not paired" not in {each.title for each in found.sections}


@pytest.mark.parametrize(
    ("other", "paired"),
    [({"temperature": 1.0}, False), ({"temperature": 0.88}, True), (None, True)],
)
def test_systems_whose_settings_differ_are_not_paired(
    other: dict[str, float] | None, paired: bool
) -> None:
    """What is blank, as of imported replies, is not known to differ."""
    known = json.dumps({"temperature": 0.88})
    table = study(
        live("a", 8, 6).assign(settings=known),
        static("a", 12, 8).assign(settings="" if other is None else json.dumps(other)),
        live("b", 8, 6).assign(settings=known),
        static("b", 12, 8).assign(settings=known),
    )
    report = made(table)
    assert set(report.sections[0].frame["system"]) == ({"a", "b"} if paired else {"b"})
    if not paired:
        (row,) = section(report, "Systems that are not paired").to_dict("records")
        assert row["system"] == "a"
        assert row["reason"].startswith("settings differ: interactive: ")
        assert '"temperature": 1.0' in row["reason"]


def test_who_lacks_an_evaluation_is_named() -> None:
    report = made(study(live("a", 8, 6), static("a", 12, 8), live("b", 5, 3), static("c", 5, 3)))
    found = section(report, "Systems that are not paired")
    assert found.to_numpy().tolist() == [
        ["b", "no static evaluation"],
        ["c", "no interactive evaluation"],
    ]
    assert made(study(live("b", 5, 3))).findings[0].startswith("No system has both")


def test_open_items_are_no_evaluation() -> None:
    waiting = static("a", 12, 8).assign(votes=5)
    report = made(study(live("a", 8, 6).assign(votes=1), waiting))
    (row,) = section(report, "Systems that are not paired").to_dict("records")
    assert row["reason"] == "no decided item in its static evaluation"


def test_third_parties_of_five_votes_judge_conversations_not_contexts() -> None:
    judged = static("a", 12, 8).assign(protocol="meena_third_party", context="")
    rows = made(study(judged, static("a", 8, 8))).sections[0].frame
    assert rows["interactive"].tolist() == pytest.approx([60, 40, 50])
    assert rows["static"].tolist() == pytest.approx([40, 40, 40])


def test_greetings_and_goodbyes_are_shares_of_labeled_turns() -> None:
    """Of ten turns of each of two conversations three are polite; unlabeled ones do not count."""
    ratings = study(live("a", 8, 6, talks=2), static("a", 12, 8))
    said = {0: "Hello there, how are you?", 4: "Highway robbery.", 9: "I have to go, good night!"}
    rows = [
        {
            "message": f"{talk}/{seq}",
            "conversation": f"a{talk}",
            "seq": seq,
            "side": 1,
            "system": "a",
            "persona": "",
            "text": "Hi!" if (talk, seq) == (1, 1) or seq > 9 else said.get(seq, "I see it."),
            "sent_at": "",
        }
        for talk in range(2)
        for seq in range(14)
    ]
    messages = message_table(pd.DataFrame(rows))
    (row,) = section(made(ratings, messages), "Greetings").to_dict("records")
    assert (row["system"], row["evaluation"], row["turns"]) == ("a", "interactive", 20)
    assert (row["greeting"], row["goodbye"]) == (15.0, 10.0)
    assert row["either"] == pytest.approx(25)
    assert row["low"] < 25 < row["high"]
