"""Imported texts from the form to the analysis: arms, data sets, intentions, lists for characters.

Each campaign is filled by people through the services, and what is read is its real export.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from analysis import Report, Tables, get_metric, get_report, message_table, read
from analysis.conversations.persona_likeness import study
from evaluation import Question
from tests.analysis.cast import line
from tests.asking import imported
from tests.factories import NOW
from tests.webapp.services.people import join
from tests.webapp.views.visiting import Visit
from webapp.models import Assignment, Campaign, Candidate, Participation
from webapp.services.data import exports
from webapp.services.participation import enrolment
from webapp.services.rating import submission

pytestmark = pytest.mark.django_db
Answer = Callable[[Question, Candidate, random.Random], str]
MOODS = ("positive", "negative", "neutral")


def judged_by(campaign: Campaign, people: int, answer: Answer) -> list[Participation]:
    """Let people judge all that they are given."""
    came = [enrolment.start(person=join(campaign), now=NOW) for _ in range(people)]
    for number, person in enumerate(came):
        rng = random.Random(number)
        while (assignment := submission.current(person)) is not None:
            answers = filled(assignment, person, answer, rng)
            submission.submit(person=person, answers=answers, now=NOW)
    return came


def filled(
    assignment: Assignment, person: Participation, answer: Answer, rng: random.Random
) -> dict[str, str]:
    """Answer a form; positions are given in the order of what is answered."""
    rate, shown = submission.rate_of(person), submission.shown_to(assignment)
    candidates = {each.key: each for each in assignment.item.candidates.select_related("system")}
    found = {
        f"{about}.{question.name}": answer(question, candidates[about], rng)
        for about, question in rate.form_questions(shown)
    }
    ranked = [name for question in rate.each if question.compares for name in found
              if name.endswith(f".{question.name}")]  # fmt: skip
    order = sorted(ranked, key=lambda name: float(found[name]))
    return found | {name: str(position) for position, name in enumerate(order, start=1)}


def exported(campaign: Campaign, folder: Path) -> Tables:
    return read(exports.write_to(campaign=campaign, path=folder / "export.zip"))


def ratings_of(campaign: Campaign, folder: Path) -> Any:
    found = exported(campaign, folder).ratings
    assert found is not None
    return found


def seen(person: Participation, column: str) -> set[Any]:
    done = Assignment.objects.filter(participation=person, state="DONE")
    return set(done.values_list(column, flat=True))


# --- rating of explanations (NL-P9) -----------------------------------------------------------

ARMS = {"original": 0.7, "generated": 0.4}


def prompts(count: int, systems: Iterable[str], **more: Any) -> list[dict[str, Any]]:
    return [
        {
            "id": f"p{n}",
            "messages": [f"It rains on day {n} because ?"],
            "replies": {system: f"Reason {n} of {k}." for k, system in enumerate(systems)},
            **{name: of(n) for name, of in more.items()},
        }
        for n in range(count)
    ]


def slid(question: Question, candidate: Candidate, rng: random.Random) -> str:
    return f"{min(1, max(0, rng.gauss(ARMS[candidate.system.name], 0.1))):.2f}"


def test_nobody_rates_both_arms_and_the_report_has_them_from_the_export(tmp_path: Path) -> None:
    campaign = imported("explanation_rating", prompts(4, ARMS))
    came = judged_by(campaign, 6, slid)
    arms = [seen(person, "item__candidates__system__name") for person in came]
    assert Counter(map(tuple, arms)) == {("original",): 3, ("generated",): 3}
    assert all(len(seen(person, "item")) == 4 for person in came)
    report: Report = get_report("explanation_ratings")(ratings_of(campaign, tmp_path))
    assert report.cautions == ()
    means = report.sections[0].frame
    assert list(means["dimension"].unique()) == [
        "goodness", "relatedness", "grammaticality", "helpfulness", "plausibility"
    ]  # fmt: skip
    for row in means.to_dict("records"):
        assert row["estimate"] == pytest.approx(ARMS[row["system"]], abs=0.1)
        assert (row["ratings"], row["participants"]) == (12, 3)
    assert len(report.sections[2].frame) == 10


# --- ranking of explanations (NL-P8) ----------------------------------------------------------

SEVEN = tuple(f"model{n}" for n in range(7))
SETS = ("COPA", "WSCG")


def by_number(question: Question, candidate: Candidate, rng: random.Random) -> str:
    return str(SEVEN.index(candidate.system.name))


def test_ten_prompts_of_one_data_set_and_ranks_from_the_export(tmp_path: Path) -> None:
    campaign = imported(
        "explanation_ranking", prompts(24, SEVEN, dataset=lambda n: SETS[n % 2]), {"rate.votes": 1}
    )
    came = judged_by(campaign, 2, by_number)
    sets = [seen(person, "item__context__group") for person in came]
    assert sorted(map(tuple, sets)) == [("COPA",), ("WSCG",)]
    assert all(len(seen(person, "item")) == 10 for person in came)
    table = ratings_of(campaign, tmp_path)
    assert {"COPA", "WSCG"} == set(table["dataset"])
    assert (table.groupby("item")["value"].agg(lambda found: sorted(found)).map(tuple)
            == tuple(range(1, 8))).all()  # fmt: skip
    ranks = get_metric("explanation_rank")(table).set_index("system")["estimate"]
    assert [ranks[name] for name in SEVEN] == pytest.approx([n / 6 for n in range(7)])


# --- perceived sentiment (NL-P7) --------------------------------------------------------------


def meant(count: int) -> list[dict[str, Any]]:
    return [
        {
            "id": f"u{n}",
            "messages": [f"Utterance {n}."],
            "replies": {"model": {"text": f"Response {n}.", "intended": MOODS[n % 3]}},
        }
        for n in range(count)
    ]


def perceived(question: Question, candidate: Candidate, rng: random.Random) -> str:
    """What was intended; of neutral ones every second rater sees something positive."""
    conversation = candidate.conversation
    assert conversation is not None
    is_odd = conversation.intended == "neutral" and rng.random() < 0.5
    return "positive" if is_odd else conversation.intended


def test_five_annotators_of_the_same_items_fill_the_confusion_matrix(tmp_path: Path) -> None:
    campaign = imported("perceived_sentiment", meant(30))
    came = judged_by(campaign, 5, perceived)
    assert [len(seen(person, "item")) for person in came] == [30] * 5
    table = ratings_of(campaign, tmp_path)
    assert len(table) == 150
    assert set(table["intended"]) == set(MOODS)
    report: Report = get_report("chikai_sentiment")(table)
    assert report.findings[0].endswith("of 150 annotations.")
    counts = {row["intended"]: row for row in report.sections[2].frame.to_dict("records")}
    other = sum(table["value"] != table["intended"])
    assert 0 < other < 50
    for mood in MOODS:
        wanted: dict[str, Any] = {"intended": mood, **dict.fromkeys(MOODS, 0), mood: 50}
        if mood == "neutral":
            wanted |= {"neutral": 50 - other, "positive": other}
        assert counts[mood] == wanted
    figures = {
        row["figure"]: row["estimate"] for row in report.sections[0].frame.to_dict("records")
    }
    assert figures["agreement"] == pytest.approx(1 - other / 150)
    assert 0 < figures["Fleiss' kappa"] < 1


def test_what_was_intended_is_not_on_the_page() -> None:
    rows = meant(2)
    for row in rows:
        row["replies"]["model"]["intended"] = "secret-mood"
    visit = Visit(imported("perceived_sentiment", rows))
    visit.join()
    visit.post("start")
    page = visit.get().content.decode()
    assert "Response" in page
    assert "secret-mood" not in page
    assert "model" not in page.replace("models", "")


# --- lists for a character (PM-P2) ------------------------------------------------------------

CAST = ("pirate", "doctor")


def lists(each: int, count: int = 1) -> list[dict[str, Any]]:
    """Return lists of utterances by every author, each to be judged for every character."""
    return [
        {
            "id": f"list{number}-{character}",
            "messages": [],
            "character": character,
            "replies": {
                author: [f"{author} line {number}.{k}" for k in range(each)] for author in CAST
            },
        }
        for number in range(count)
        for character in CAST
    ]


def spoken(each: int) -> list[dict[str, Any]]:
    """Return one list for both characters, of lines that are like their authors."""
    rng = np.random.default_rng(0)
    said = {author: [f"{line(author, rng)} {k}" for k in range(each)] for author in CAST}
    return [
        {"id": f"list-{character}", "messages": [], "character": character, "replies": said}
        for character in CAST
    ]


def votes(question: Question, candidate: Candidate, rng: random.Random) -> str:
    conversation = candidate.conversation
    assert conversation is not None
    own = conversation.context.endswith(candidate.system.name)
    return str(int(rng.random() < (0.9 if own else 0.1)))


def test_each_list_has_five_judges_and_each_judge_one_list() -> None:
    """500 utterances, here of five characters, give 250 assignments, and nobody is left over."""
    cast = [f"c{n}" for n in range(5)]
    rows = [
        {
            "id": f"list{number}-{character}",
            "messages": [],
            "character": character,
            "replies": {author: [f"{author} {number}.{k}" for k in range(10)] for author in cast},
        }
        for number in range(10)
        for character in cast
    ]
    campaign = imported("persona_likely", rows)
    assert campaign.items.count() == 50
    assert sum(campaign.items.values_list("target", flat=True)) == 250
    assert set(Counter(Candidate.objects.values_list("item", flat=True)).values()) == {50}
    came = [enrolment.start(person=join(campaign), now=NOW) for _ in range(12)]
    assert [person.assignments.count() for person in came] == [1] * 12


@pytest.mark.parametrize("people", [9, 10, 11])
def test_likely_votes_are_counted_from_the_export(people: int, tmp_path: Path) -> None:
    campaign = imported("persona_likely", lists(6))
    came = [join(campaign) for _ in range(people)]
    told = 0  # that nothing is left for them
    for number, person in enumerate(came):
        person = enrolment.start(person=person, now=NOW)
        assignment = submission.current(person)
        if assignment is None:
            told += 1
            continue
        answers = filled(assignment, person, votes, random.Random(number))
        submission.submit(person=person, answers=answers, now=NOW)
        assert seen(person, "item__context__about") in ({"pirate"}, {"doctor"})
    table = ratings_of(campaign, tmp_path)
    found = get_metric("nol")(table).set_index("system")
    assert set(found.index) == set(CAST)
    assert found["open_items"].sum() == (12 if people == 9 else 0)
    assert found["n"].sum() == (12 if people == 9 else 24)
    assert told == max(0, people - 10)


def test_the_report_joins_votes_and_texts_of_an_export_and_learns_from_other_lines(
    tmp_path: Path,
) -> None:
    """The judged texts are the export's messages; what each author says besides is added."""
    campaign = imported("persona_likely", spoken(20))
    judged_by(campaign, 10, votes)
    found = exported(campaign, tmp_path)
    assert found.ratings is not None
    assert found.messages is not None
    report = get_report("persona_metrics_nol")
    alone: Report = report(found.ratings, found.messages)
    assert alone.findings[0].startswith("no cast of two characters")
    rng = np.random.default_rng(1)
    teaching = [(name, line(name, rng)) for name in CAST for _ in range(60)]
    by_pirate = found.messages["partner_of"] == "pirate"
    teaching += [("pirate", text) for text in found.messages.loc[by_pirate, "text"]]
    lines = [
        {"message": f"own{k}", "conversation": "own", "seq": k, "persona": name, "text": text}
        | {"system": "human", "side": "0"}
        for k, (name, text) in enumerate(teaching)
    ]
    messages = message_table(pd.concat([found.messages, pd.DataFrame(lines)]))
    table, histogram = (section.frame for section in report(found.ratings, messages).sections[:2])
    assert dict(zip(table["character"], table["utterances"], strict=True)) == dict.fromkeys(
        CAST[::-1], 40
    )
    assert all(float(cell.split()[0]) > 0.5 for cell in table["PSProb"])
    assert list(histogram.filter(like="NoL").sum(axis=1)) == [40, 40]
    judged = study(found.ratings, messages).frame
    assert (judged["MaxBLEU"] < 100).all(), "a judged line taught its own author's model"
