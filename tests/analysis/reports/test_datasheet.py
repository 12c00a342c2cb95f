"""The datasheet: the plan's answers, and for the rest what the researcher must fill in."""

from __future__ import annotations

from analysis import Report, get_report
from tests.analysis.examples import simulated
from tests.analysis.planned import study

datasheet = get_report("datasheet")


def _answers(report: Report) -> dict[str, str]:
    return {
        str(row["question"]): str(row["answer"])
        for section in report.sections
        if "answer" in section.frame
        for row in section.frame.to_dict("records")
    }


def test_the_plan_answers_what_it_knows() -> None:
    said = _answers(datasheet(simulated(), study=study()))
    assert said["Which systems are compared?"] == "a (tfidf); b (people)"
    assert said["In which versions?"] == "a: m1"
    assert (
        said["Where does it deviate from that procedure?"] == "Most messages: 8, in the source none"
    )
    assert "Checks of messages: MaxWords (limit 15)." in said["How is quality assured?"]
    assert said["Was it changed afterwards?"] == "No amendment is recorded"
    assert said["Are people deceived?"].startswith("Yes, and told afterwards: “It was a machine.”")
    assert said["How many people were left out, and why?"].startswith("4 of 6 who started; 2 with")
    assert "their own persona is seen by b" in said["What is their input?"]


def test_what_nothing_records_is_left_to_the_researcher() -> None:
    report = datasheet(simulated(), study=study())
    said = _answers(report)
    missing = "Not recorded. [Fill in: committee and number]"
    assert said["Was it approved by an ethics committee?"] == missing
    waiting = sum("[Fill in" in each or "[Check" in each for each in said.values())
    assert report.findings[0].startswith(f"{len(said) - waiting} of {len(said)} questions")


def test_every_question_asked_is_a_criterion() -> None:
    report = datasheet(simulated(), study=study())
    frame = next(each.frame for each in report.sections if each.key == "heds-criteria")
    assert frame["criterion"].tolist() == ["funny", "again"]
    assert frame["answers"].tolist() == ["1 to 3; 1 = not at all, 3 = very", "yes or no"]


def test_a_bare_table_answers_what_can_be_counted() -> None:
    said = _answers(datasheet(simulated()))
    assert said["How many people judge?"] == "60"
    assert said["Did people consent?"] == "Not recorded. [Fill in: consent]"
