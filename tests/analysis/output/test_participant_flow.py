"""The flow of participants: every loss has a reason and a number, and they add up."""

from __future__ import annotations

import pandas as pd

from analysis.output import participant_flow
from analysis.output.charts import chart
from tests.analysis.planned import PLAN, study


def test_every_step_is_what_is_left_of_the_one_before() -> None:
    first = next(participant_flow.sections(study()))
    assert first.title == "9 people consented, 4 finished; the results rest on 2"
    rows = list(zip(first.frame["step"], first.frame["people"], strict=True))
    assert rows == [
        ("consented", 9),
        ("– withdrew, data erased", 2),
        ("– full", 1),
        ("started", 6),
        ("– left and did not return", 1),
        ("– still under way", 1),
        ("finished", 4),
        ("– finished without an answer", 1),
        ("– reviewer: spam", 1),
        ("in the results", 2),
    ]
    left = 0
    for step, people in rows:
        if step.startswith("– "):
            left -= people
        elif step == "consented":
            left = people
        else:
            assert people == left
    assert first.frame["of all"].iloc[-1] == "22%"


def test_the_chart_has_the_rows_of_the_table() -> None:
    first = next(participant_flow.sections(study()))
    assert first.chart is not None
    assert [row["people"] for row in first.chart.rows] == list(first.frame["people"])
    assert {row["kind"] for row in first.chart.rows} == {"reached", "lost"}


def test_a_reason_of_several_stages_has_a_line_of_each() -> None:
    """One left before the start, two after it; answers of one who finished were set aside so."""
    people = pd.DataFrame(
        [
            ("p1", "", "LEFT", "", "en"),
            ("p2", "a", "LEFT", "", "en"),
            ("p3", "b", "LEFT", "", "en"),
            ("p4", "a", "COMPLETED", "", "en"),
            ("p5", "b", "COMPLETED", "", "en"),
        ],
        columns=["participant", "system", "outcome", "excluded", "language"],
    )
    left = study().outcomes["LEFT"]
    answers = pd.DataFrame(
        [("p4", "a", left, ""), ("p5", "b", "", "")],
        columns=["rater", "system", "excluded", "flags"],
    )
    first = next(participant_flow.sections(study(people=people, answers=answers, withdrew=0)))
    lines = [(step, n) for step, n in zip(first.frame["step"], first.frame["people"], strict=True)]
    assert lines == [
        ("consented", 5),
        (f"– {left}, before the start", 1),
        ("started", 4),
        (f"– {left}, after the start", 2),
        ("finished", 2),
        (f"– {left}, after the end", 1),
        ("in the results", 1),
    ]
    assert chart(first) is not None


def test_losses_are_told_by_system() -> None:
    section = next(
        each for each in participant_flow.sections(study()) if each.key == "flow-systems"
    )
    assert section.title == "Most people are lost with a: 2 of 3"
    assert section.frame["in the results"].tolist() == [1, 1]


def test_who_met_several_systems_counts_with_those_that_they_rated() -> None:
    """One met both and stopped with b; the other finished with both."""
    people = pd.DataFrame(
        [("p1", "a;b", "QUIT", "", "en"), ("p2", "b;a", "COMPLETED", "", "en")],
        columns=["participant", "system", "outcome", "excluded", "language"],
    )
    answers = pd.DataFrame(
        [("p1", "a", "", ""), ("p2", "a", "", ""), ("p2", "b", "", "")],
        columns=["rater", "system", "excluded", "flags"],
    )
    several = study(people=people, answers=answers)
    found = {each.key: each for each in participant_flow.sections(several)}["flow-systems"]
    assert found.title == "Most people are lost with b: 1 of 2"
    columns = ["system", "started", "finished", "in the results", "lost"]
    assert found.frame[columns].to_numpy().tolist() == [["a", 2, 2, 2, 0], ["b", 2, 1, 1, 1]]


def test_answers_set_aside_and_flagged_are_counted() -> None:
    found = {each.key: each for each in participant_flow.sections(study())}
    assert found["excluded"].title == "2 of 4 answers are set aside"
    assert found["flagged"].frame["flag"].tolist() == ["quick"]


def test_without_a_study_or_people_there_is_no_flow() -> None:
    nobody = study(people=study().people.iloc[:0], withdrew=0)
    assert list(participant_flow.sections(None)) == []
    assert list(participant_flow.sections(nobody)) == []


def test_who_withdrew_is_unknown_where_the_file_does_not_tell() -> None:
    first = next(participant_flow.sections(study(withdrew=None)))
    assert first.title.startswith("7 people consented")
    assert "People who withdrew are not counted in this file" in first.note


def test_nobody_lost_is_said() -> None:
    people = pd.DataFrame(
        [("p1", "a", "COMPLETED", ""), ("p2", "b", "COMPLETED", "")],
        columns=["participant", "system", "outcome", "excluded"],
    )
    found = {each.key: each for each in participant_flow.sections(study(people=people, withdrew=0))}
    assert found["flow-systems"].title == "Nobody who started was lost, with any system"


def test_where_nobody_rates_the_flow_ends_with_who_finished() -> None:
    steps = [step for step in PLAN["protocol"]["steps"] if step["step"] != "rate"]
    plan = {**PLAN, "protocol": {**PLAN["protocol"], "steps": steps}}
    first, *others = participant_flow.sections(study(plan=plan))
    assert first.title == "9 people consented, 4 finished"
    assert first.frame["step"].iloc[-1] == "finished"
    by_system = next(each for each in others if each.key == "flow-systems")
    assert "in the results" not in by_system.frame
    assert list(by_system.frame["lost"]) == list(
        by_system.frame["started"] - by_system.frame["finished"]
    )
