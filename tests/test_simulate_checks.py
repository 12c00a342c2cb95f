"""Checks of simulated campaigns, on campaigns made up: a broken run does not pass."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from evaluation import FreeText, Protocol, Question
from evaluation.registry import get_protocol, protocol_names
from tests.simulate import admission, own_systems
from tests.simulate.admission import Admitted
from tests.simulate.planted import HUMAN, expected_level, planted, questions
from tests.simulate.recovered import Recovered, orders, problems
from tests.simulate.written import splits

PEOPLE = 24
SENT = ["I own ten.", "Yes? I own twenty too"]
TEXT = "Most of it made sense to me."
VISITS = [{"ann": 3, "bob": 1}, {"ann": 2}]  # messages of two days
USED = {"return_rate": 0.5, "active_days": 1.5, "exchanges_per_session": 1.8}
SCREENED = 8  # of 32 who come where there is a screening
ADMITTED = Admitted(
    rows=[{"step": "screening", "question": "watched", "value": "1"}],
    tries=[{"screening.watched": "1"}],
)
MESSAGE = {"conversation": "7", "message_seq": "2"}  # that each text is about
NAMES = protocol_names()
RATED = [name for name in NAMES if questions(get_protocol(name))]


def metric(question: Question) -> str:
    if question.personas_beside() is not None:
        return "persona_detection"
    return "likert" if question.is_scale else "label_score"


def row(question: Question, system: str, level: float) -> dict[str, Any]:
    low, high = question.scale if question.is_scale and question.scale else (0.0, 1.0)
    return {
        "metric": metric(question),
        "question": question.name,
        "system": system,
        "estimate": low + level * (high - low),
        "n": PEOPLE,
    }


def campaign(name: str) -> Recovered:
    """Return a campaign in which everything is as planted."""
    protocol = get_protocol(name)
    truth = planted(protocol)
    asked = questions(protocol)
    used = [{"metric": name, "question": "", "estimate": each} for name, each in USED.items()]
    lengths = {"metric": "characters_per_message", "question": "", "system": HUMAN}
    return Recovered(
        results=[
            {**lengths, "estimate": 15.5, "n": 2},
            *(used if protocol.chat and protocol.chat.endless else ()),
            *(
                row(one, system, expected_level(protocol, one, truth[system]))
                for one in asked
                if one.level != "text"
                for system in truth
            ),
        ],
        ratings=[
            {
                "question": one.name,
                "level": one.level,
                "value": TEXT if one.level == "text" else value,
            }
            for one in asked
            for value in "01"
        ],
        outcomes=[
            *["COMPLETED"] * PEOPLE,
            *["SCREENED_OUT"] * bool(protocol.screening) * SCREENED,
            *["ONBOARDING"] * bool(protocol.onboarding) * len(raters(PEOPLE)[0]),
        ],
        conversations=PEOPLE,
        messages=[{"system": HUMAN, "text": text} for text in SENT],
        sent=SENT,
        texts=[TEXT],
        **written(protocol),
        visits=VISITS,
        admitted=dataclasses.replace(ADMITTED, pages=pages(protocol)),
    )


def pages(protocol: Protocol) -> dict[str, int]:
    """Return how many pages everybody rated: the careless ones those of known answers."""
    if protocol.onboarding is None:
        return {}
    careless, careful = raters(PEOPLE)
    return dict.fromkeys(careless, protocol.onboarding.items) | dict.fromkeys(careful, 20)


def written(protocol: Protocol) -> dict[str, list[Any]]:
    """Return what people wrote as sent and as exported, in the splits that there have to be."""
    if protocol.write is None:
        return {}
    wanted = splits(protocol, PEOPLE) or {"": PEOPLE}
    drawn = [split for split, count in wanted.items() for _ in range(count)]
    texts = [f"Mirvo{number} tandel quivry" for number in range(len(drawn))]
    rows = [
        {"text": text, "original": "I like tea.", "split": split, "number": "1", **MESSAGE}
        for text, split in zip(texts, drawn, strict=True)
    ]
    accepted = [{**one, "state": "ACCEPTED"} for one in rows]
    said = {"conversation": "7", "seq": "2", "text": "I like tea."}
    return {"contributions": accepted, "written": texts, "held": [said]}


def told(name: str, found: Recovered) -> list[str]:
    return list(problems(get_protocol(name), found))


def changed(found: Recovered, change: Callable[[dict[str, Any]], dict[str, Any]]) -> Recovered:
    """Return the campaign with the analysis's rows about answers changed."""
    rows = [dict(one) for one in found.results]
    return dataclasses.replace(found, results=rows[:1] + [change(one) for one in rows[1:]])


@pytest.mark.parametrize("name", NAMES)
def test_what_was_planted_passes(name: str) -> None:
    assert told(name, campaign(name)) == []
    one, other = orders(get_protocol(name), campaign(name))
    assert one == other != ""


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"text": "Other words"}, "texts: people sent"),
        ({"state": "OFFERED"}, "texts: accepted all"),
        ({"original": "I like quivry."}, "repeats quivry"),
        ({"original": ""}, "revises nothing"),
    ],
)
def test_a_text_that_came_back_otherwise_fails(changes: dict[str, str], complaint: str) -> None:
    found = campaign("personachat_revisions")
    first, *rest = found.contributions
    wrong = dataclasses.replace(found, contributions=[{**first, **changes}, *rest])
    (problem,) = told("personachat_revisions", wrong)
    assert complaint in problem


def test_splits_in_other_numbers_fail() -> None:
    found = campaign("personachat_personas")
    moved = [{**one, "split": "train"} for one in found.contributions]
    (problem,) = told("personachat_personas", dataclasses.replace(found, contributions=moved))
    assert problem.startswith("splits: ")


@pytest.mark.parametrize("name", RATED)
def test_shuffled_systems_fail(name: str) -> None:
    """Of one system only its questions can be mixed up."""
    protocol, found = get_protocol(name), campaign(name)
    ranked = [one for one in questions(protocol) if one.level != "text"]
    ranked = [one for one in ranked if one.personas_beside() is None]
    if len(systems := list(planted(protocol))) > 1:
        names = dict(zip(systems, (*systems[1:], systems[0]), strict=True))
        mixed = changed(found, lambda one: {**one, "system": names[one["system"]]})
    else:
        others = [*ranked[1:], ranked[0]]
        names = {one.name: other.name for one, other in zip(ranked, others, strict=True)}
        mixed = changed(
            found, lambda one: {**one, "question": names.get(one["question"], one["question"])}
        )
    complaints = told(name, mixed)
    assert complaints
    assert {text.partition(":")[0] for text in complaints} <= {one.name for one in ranked}


@pytest.mark.parametrize(
    ("system", "points", "passes"),
    [("first", -0.5, True), ("second", -0.5, True), ("worse", 1.5, True), ("worse", 1.7, False)],
)
def test_systems_planted_alike_may_come_in_any_order(
    system: str, points: float, passes: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shares = {"first": 0.6, "second": 0.6, "worse": 0.2}  # of 1 to 5: 3.4, 3.4 and 1.8
    rows = [{"name": name, "bot": "parrot", "share": share} for name, share in shares.items()]
    file = tmp_path / "systems.json"
    file.write_text(json.dumps({"systems": rows}), encoding="utf-8")
    monkeypatch.setenv(own_systems.VARIABLE, str(file))
    moved = {"metric": "likert", "system": system}
    found = changed(
        campaign("personachat_bot"),
        lambda one: {**one, "estimate": one["estimate"] + points * (moved.items() <= one.items())},
    )
    assert (told("personachat_bot", found) == []) is passes


@pytest.mark.parametrize("name", RATED)
def test_a_system_without_ratings_fails(name: str) -> None:
    last = list(planted(get_protocol(name)))[-1]
    found = changed(campaign(name), lambda one: one)
    rows = [one for one in found.results[1:] if one["system"] != last]
    less = told(name, dataclasses.replace(found, results=[found.results[0], *rows]))
    assert less
    assert all(f"the analysis has no number for {last}" in text for text in less)


@pytest.mark.parametrize("name", RATED)
@pytest.mark.parametrize("level", [0.0, 0.5, 1.0])
def test_constant_answers_fail(name: str, level: float) -> None:
    protocol, found = get_protocol(name), campaign(name)
    asked = {one.name: one for one in questions(protocol)}
    same = changed(found, lambda one: row(asked[one["question"]], one["system"], level))
    assert told(name, same)


def test_answers_that_never_differ_fail_at_any_level() -> None:
    found = campaign("meena_third_party")
    same = dataclasses.replace(found, ratings=[{**one, "value": "1"} for one in found.ratings])
    assert told("meena_third_party", same) == ["no two people answered any question differently"]


@pytest.mark.parametrize(("right", "passes"), [(16, False), (17, True), (18, True)])
def test_characters_must_be_told_better_than_by_chance(right: int, passes: bool) -> None:
    """Of 24 guesses 17 or more are right 3 times in 100, 16 or more 8 times in 100."""
    found = changed(
        campaign("personachat_human"),
        lambda one: {**one, "estimate": right / PEOPLE} if one["question"] == "persona" else one,
    )
    assert (told("personachat_human", found) == []) is passes


@pytest.mark.parametrize(("away", "passes"), [(0.24, True), (0.26, False), (-0.26, False)])
def test_the_level_of_one_system_must_be_near(away: float, passes: bool) -> None:
    found = changed(
        campaign("personachat_human"),
        lambda one: (
            {**one, "estimate": one["estimate"] + 4 * away} if one["question"] == "fluency" else one
        ),
    )
    assert (told("personachat_human", found) == []) is passes


@pytest.mark.parametrize(("completed", "passes"), [(17, False), (18, True), (19, True)])
def test_most_people_must_come_to_the_end(completed: int, passes: bool) -> None:
    outcomes = ["COMPLETED"] * completed + [""] * (PEOPLE - completed)
    found = dataclasses.replace(campaign("meena_human"), outcomes=outcomes)
    assert (told("meena_human", found) == []) is passes


@pytest.mark.parametrize("name", ["meena_human", "personachat_bot"])
@pytest.mark.parametrize("stored", [[], SENT[:1], [*SENT, SENT[0]], [SENT[0], "No."]], ids=str)
def test_messages_that_were_lost_or_changed_fail(name: str, stored: Sequence[str]) -> None:
    messages = [{"system": HUMAN, "text": text} for text in stored]
    found = dataclasses.replace(campaign(name), messages=messages)
    assert told(name, found) == [
        f"messages: people sent 2, the export has {len(stored)}, or others"
    ]


@pytest.mark.parametrize("row", [{"n": 1}, {"n": 3}, {"estimate": 15.4}], ids=str)
def test_the_analysis_must_measure_what_people_said(row: dict[str, Any]) -> None:
    found = campaign("meena_human")
    measured = dataclasses.replace(found, results=[{**found.results[0], **row}])
    (complaint,) = told("meena_human", measured)
    assert complaint.startswith("messages: 2 of 15.50 characters were sent, the analysis has")


@pytest.mark.parametrize(
    ("name", "estimate", "passes"),
    [
        ("return_rate", 0.49, False),
        ("active_days", 1.4, False),
        ("exchanges_per_session", 2.0, True),
        ("exchanges_per_session", 2.01, False),
        ("exchanges_per_session", 1.39, False),
        ("exchanges_per_session", None, False),
    ],
)
def test_the_analysis_must_measure_who_came_again(name: str, estimate: Any, passes: bool) -> None:
    found = changed(
        campaign("live_engagement"),
        lambda one: {**one, "estimate": estimate} if one["metric"] == name else one,
    )
    assert (told("live_engagement", found) == []) is passes


@pytest.mark.parametrize("second", [[], [{}], [{"cara": 2}]], ids=str)
def test_somebody_must_write_on_a_second_day(second: list[dict[str, int]]) -> None:
    found = dataclasses.replace(campaign("live_engagement"), visits=[VISITS[0], *second])
    assert any("wrote on a second day" in each for each in told("live_engagement", found))


def test_texts_must_be_those_written_and_enter_no_number() -> None:
    name = "convai2_crowd_reasons"
    texts = [one for one in questions(get_protocol(name)) if isinstance(one, FreeText)]
    found, first = campaign(name), texts[0].name
    assert told(name, dataclasses.replace(found, texts=["Another."]))[0] == (
        f"{first}: {TEXT!r} is in the export, and nobody wrote it"
    )
    less = [one for one in found.ratings if one["question"] != first]
    assert told(name, dataclasses.replace(found, ratings=less)) == [
        f"{first}: no text is in the export"
    ]
    number = {"metric": "likert", "question": first, "system": "alpha", "estimate": 1.0, "n": 1}
    counted = dataclasses.replace(found, results=[*found.results, number])
    assert told(name, counted) == [f"{first}: a text, of which numbers were made: likert"]


# --- before the work ----------------------------------------------------------------------------


@pytest.mark.parametrize(("out", "passes"), [(0, False), (1, True), (8, True), (21, False)])
def test_as_many_are_screened_out_as_was_planted(out: int, passes: bool) -> None:
    outcomes = ["COMPLETED"] * (32 - out) + ["SCREENED_OUT"] * out
    found = dataclasses.replace(campaign("role_play"), outcomes=outcomes)
    complaints = told("role_play", found)
    wanted = f"screening: {out} of 32 failed where a share of 0.25 was planted"
    assert complaints == ([] if passes else [wanted])


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"message_seq": "3"}, "is linked to no message"),
        ({"conversation": "8"}, "is linked to no message"),
        ({"original": "I like milk."}, "is linked to no message"),
    ],
)
def test_a_paraphrase_of_another_message_fails(changes: dict[str, str], complaint: str) -> None:
    found = campaign("student_advisor_paraphrases")
    first, *rest = found.contributions
    wrong = dataclasses.replace(found, contributions=[{**first, **changes}, *rest])
    (problem,) = told("student_advisor_paraphrases", wrong)
    assert complaint in problem


@pytest.mark.parametrize(
    "rows", [[], [{**ADMITTED.rows[0], "value": "0"}], [*ADMITTED.rows] * 2], ids=str
)
def test_answers_before_the_work_that_were_lost_or_changed_fail(rows: Any) -> None:
    found = dataclasses.replace(
        campaign("role_play"), admitted=dataclasses.replace(ADMITTED, rows=rows)
    )
    assert told("role_play", found) == [
        f"admission: people sent 1 answers, the export has {len(rows)}"
    ]


def raters(count: int) -> tuple[list[str], list[str]]:
    """Return names of careless and of careful people of a crowd."""
    names = [f"sim-0-{number}" for number in range(count)]
    careless = [name for name in names if admission.is_careless(name)]
    return careless, [name for name in names if name not in careless]


@pytest.mark.parametrize(
    ("missed", "wronged", "complaint"),
    [(0, 0, ""), (2, 0, "careless raters dropped"), (0, 3, "careful raters dropped")],
)
def test_careless_raters_are_those_dropped(missed: int, wronged: int, complaint: str) -> None:
    protocol = admission.with_admission(get_protocol("coherency_pairs"))
    careless, careful = raters(40)
    assert min(len(careless), len(careful)) > 10
    dropped = {*careless[missed:], *careful[:wronged]}
    pages = {name: 4 if name in dropped else 20 for name in (*careless, *careful)}
    outcomes = ["ONBOARDING"] * len(dropped) + ["COMPLETED"] * (len(pages) - len(dropped))
    found = dataclasses.replace(ADMITTED, pages=pages)
    said = [each for each in admission.problems(protocol, found, outcomes) if "onboard" in each]
    assert [complaint in each for each in said] == [True] * bool(complaint)
    (counted,) = (
        each
        for each in admission.problems(protocol, found, [*outcomes, "ONBOARDING"])
        if "stopped by it" in each
    )
    assert f"{len(dropped)} people were stopped by it" in counted


def test_everything_before_the_work_is_added_where_it_lacks() -> None:
    steps = [step.prefix for step in admission.with_admission(get_protocol("meena_static")).steps]
    assert steps == ["screening", "quiz", "onboarding", "rate"]
    steps = [step.prefix for step in admission.with_admission(get_protocol("role_play")).steps]
    assert steps == ["quiz", "screening", "chat"]
