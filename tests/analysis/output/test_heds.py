"""Datasheet of HEDS 3.0: a file that the form loads, from the campaign; what is open is told."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import krippendorff
import pytest

from analysis import RatingTable, rating_table
from analysis.__main__ import main
from analysis.output import heds
from analysis.output.heds_form import CRITERIA, FormAnswer, entries, form
from analysis.tables.options import BadOption
from tests.analysis.examples import by_raters, simulated
from tests.analysis.planned import PLAN, study
from tests.analysis.samples import EMPTY

RATERS = "heds-sample_evaluators_design-evaluators-"
ELICITED = f"{CRITERIA}-response_elicitation-"
# Elements of the official page, written from it by hand: a text, a choice, one per criterion.
KNOWN = (
    "heds-paper_and_resources-paper-experiment_identification",
    f"{RATERS}number_of_evaluators",
    f"{RATERS}evaluators-payment-1",
    "heds-system-tasks-10",
    f"{ELICITED}verbatim_question",
    f"{ELICITED}participant_criterion_definiiton",  # as the page spells it
)


def loaded(file: dict[str, Any], element: str, criterion: str = "") -> object:
    """Return what the form shows: the value under the criterion that is open, else nothing."""
    opened = [name for name, is_open in file[CRITERIA]["control"].items() if is_open]
    assert len(opened) == 1
    key = criterion if element.startswith(f"{CRITERIA}-") else ""
    return file.get(element, {"data": {}})["data"].get(key, "")


def changed(**changes: Any) -> dict[str, Any]:
    plan = copy.deepcopy(PLAN) | changes
    return heds.heds(simulated(), study(plan=plan))


def test_the_form_has_62_questions_and_21_are_asked_of_each_criterion() -> None:
    numbers = [each.number for each in form()]
    assert len(set(numbers)) == len({each.id for each in form()}) == len(numbers) == 62
    assert sum(each.of_criterion for each in form()) == 21
    for question in form():
        assert all(1 <= int(option) <= question.count for option in question.options), question


def test_the_file_is_of_the_elements_of_the_form() -> None:
    file = json.loads(heds.written(heds.heds(simulated(), study())))
    assert set(KNOWN) < set(file)
    for element, entry in file.items():
        values = entry["data"].values()
        assert {"data", "control", "number"} <= set(entry), element
        assert all(isinstance(value, str | bool) for value in values), element
        if any(isinstance(value, bool) for value in values):
            assert set(entry["text"]) == set(entry["data"]), element  # the form writes into it
    assert set(file[CRITERIA]["control"]) == {"funny", "again"}
    assert file[f"{ELICITED}verbatim_question"]["number"] == "4.3.7"


@pytest.mark.parametrize("is_planned", [True, False])
def test_every_question_is_answered_or_listed_as_open(is_planned: bool) -> None:
    ratings, record = simulated(), study() if is_planned else None
    file, left = heds.heds(ratings, record), heds.open_questions(ratings, record)
    listed = set(zip(left["number"], left["criterion"], strict=True))
    names = list(file[CRITERIA]["control"])
    empty = 0
    for question in form():
        elements = [element for element in file if _is_of(element, question.id)]
        assert elements, question.number
        for name in names if question.of_criterion else [""]:
            is_filled = any(file[element]["data"][name] for element in elements)
            is_open = (question.number, name) in listed
            assert is_filled or is_open, (question.number, name)
            empty += not is_filled
    filled, whole = heds.counts(ratings, record)
    assert (whole - filled, whole) == (empty, 41 + 21 * len(names))
    assert left["to do"].str.startswith("fill in").sum() == empty


def _is_of(element: str, question: str) -> bool:
    rest = element.removeprefix(question)
    return rest == "" or (rest != element and rest.strip("-0123456789") in ("", "other_text"))


def test_what_only_the_researcher_knows_is_empty() -> None:
    file = heds.heds(simulated(), study())
    for element in (
        "heds-ethics-review_body",
        "heds-paper_and_resources-names_and_affiliations-contact_author-name",
        "heds-sample_evaluators_design-sample-statistical_power-method",
    ):
        assert loaded(file, element) == ""
    assert f"{RATERS}evaluators-known_to_authors-1" not in file
    assert f"{RATERS}evaluators-known_to_authors-2" not in file


def test_values_follow_the_campaign() -> None:
    pay, payment = PLAN["pay"], f"{RATERS}evaluators-payment"
    usual, other = changed(), changed(pay=pay | {"amount": "3.50"})
    assert loaded(usual, f"{payment}-other_text") == (
        "2.00 GBP for about 8 minutes, 15.00 GBP per hour"
    )
    assert str(loaded(other, f"{payment}-other_text")).startswith("3.50 GBP")
    unpaid = changed(pay=pay | {"amount": "0.00"})
    assert loaded(unpaid, f"{payment}-3") is True
    assert f"{payment}-1" not in unpaid
    assert loaded(changed(languages=["de"]), "heds-system-input_languages-56") is True
    assert loaded(changed(languages=["de", "tlh"]), "heds-system-output_languages-185") is True
    assert loaded(changed(panel="expert"), f"{RATERS}evaluators-expertise-1") is True
    assert f"{RATERS}evaluators-expertise-1" not in changed(panel="volunteer")


def test_a_question_follows_the_protocol() -> None:
    plan = copy.deepcopy(PLAN)
    funny = plan["protocol"]["steps"][1]["each"][0]
    funny |= {"text": "How witty?", "points": ["disagree", "", "", "agree"], "help": "Of jokes."}
    file = heds.heds(simulated(), study(plan=plan))
    assert loaded(file, f"{ELICITED}verbatim_question", "funny") == "How witty? Of jokes."
    assert loaded(file, f"{ELICITED}size_of_scale", "funny") == "4"
    assert loaded(file, f"{ELICITED}form_of_response-1", "funny") is True
    assert loaded(file, f"{ELICITED}form_of_response-7", "again") is True
    assert loaded(file, f"{ELICITED}form_of_response-7", "funny") is False


@pytest.mark.parametrize(
    ("question", "size", "shown", "mode"),
    [
        ({"type": "Slider", "low": 0.0, "high": 1.0, "step": 0.01, "offer": "0 to 1"}, "101", 3, 1),
        ({"type": "Choice", "options": [{}, {}, {}], "offer": "a, b or c"}, "3", 1, 1),
        ({"type": "PersonaChoice", "distractors": 2, "offer": "one of 3"}, "3", 1, 1),
        ({"type": "Preference", "ties": [{}], "offer": "A, B or equal"}, "3", 1, 2),
        ({"type": "Ranking", "offer": "an order"}, "N/A", 4, 2),
        ({"type": "FreeText", "offer": "a text"}, "N/A", 4, 1),
    ],
)
def test_every_kind_of_question_has_its_scale(
    question: dict[str, Any], size: str, shown: int, mode: int
) -> None:
    plan = copy.deepcopy(PLAN)
    show = "pairs" if question["type"] in ("Preference", "Ranking") else "one"
    plan["protocol"]["steps"][1] |= {"each": [{"name": "q", "text": "Which?"} | question]}
    plan["protocol"]["steps"][1]["show"] = show
    file = heds.heds(RatingTable(EMPTY["ratings"]), study(plan=plan))
    assert loaded(file, f"{ELICITED}size_of_scale", "q") == size
    assert loaded(file, f"{ELICITED}scale_presented_as-{shown}", "q") is True
    absolute = f"{CRITERIA}-evaluation_mode-absolute_or_relative"
    assert loaded(file, f"{absolute}-{mode}", "q") is True
    has_task = size == "N/A"
    assert (loaded(file, f"{ELICITED}task_description", "q") != "N/A") is has_task


def test_two_questions_of_one_name_are_two_criteria() -> None:
    plan = copy.deepcopy(PLAN)
    each = plan["protocol"]["steps"][1]["each"]
    each.append(each[0] | {"text": "And how funny now?"})
    file = heds.heds(simulated(), study(plan=plan))
    assert list(file[CRITERIA]["control"]) == ["funny", "again", "funny (2)"]
    assert loaded(file, f"{ELICITED}verbatim_question", "funny (2)") == "And how funny now?"


def test_numbers_are_of_the_ratings() -> None:
    votes = [[1, 2, 3, 3], [1, 2, 3, 2]]
    ratings = by_raters(votes, "ordinal")
    alpha = krippendorff.alpha(reliability_data=votes, level_of_measurement="ordinal")
    file = heds.heds(ratings)
    assert loaded(file, f"{RATERS}number_of_evaluators") == "2"
    score = f"{ELICITED}inter_annotator-agreement_score"
    assert loaded(file, score, "q") == f"{alpha:.3f} (4 items)"
    fewer = RatingTable(rating_table(ratings[ratings["rater"] == "r0"]))
    assert loaded(heds.heds(fewer), f"{RATERS}number_of_evaluators") == "1"
    assert str(loaded(heds.heds(fewer), score, "q")).startswith("InterAA not assessed")


def test_exclusions_by_a_reviewer_are_quality_assurance() -> None:
    method = "heds-sample_evaluators_design-experimental_design-quality_assurance-method"
    assert loaded(heds.heds(simulated(), study()), f"{method}-4") is True
    people = study().people.assign(excluded="")
    assert f"{method}-4" not in heds.heds(simulated(), study(people=people))


POWER = {
    **{"params": {"difference": 0.5}, "items": 60, "raters": 20, "votes": 3, "systems": 2},
    **{"power": 0.812, "campaigns": 2000, "source": "card-high, times 4 for the scale"},
}


def test_what_was_planned_before_the_launch_is_the_power_analysis() -> None:
    at = "heds-sample_evaluators_design-sample-statistical_power-"
    file = changed(power=POWER)
    method = str(loaded(file, f"{at}method"))
    assert "2000 campaigns: 60 items for each of 2 systems, 20 raters, 3 for each item" in method
    assert loaded(file, f"{at}value") == ("0.812 for a difference of 0.5, in points of the scale")
    assert loaded(file, f"{at}script") == "python -m analysis plan, of Parley 0.1.0"
    out_of_reach = {"params": {"difference": 0.5}, "problem": "not even 2,000 items"}
    for power in (None, out_of_reach):
        assert loaded(changed(power=power), f"{at}value") == ""


@pytest.mark.parametrize(
    ("consent", "quoted"),
    [
        ("Hello. The ethics board of X approved it (12/7). Bye.",
         "The ethics board of X approved it (12/7)."),
        ("IRB 44 looked at it!\nYou may stop.", "IRB 44 looked at it!"),
        ("Something aesthetic. Nobody reviewed it.", ""),
    ],
)  # fmt: skip
def test_a_board_is_quoted_from_the_consent_and_left_open_where_it_is_silent(
    consent: str, quoted: str
) -> None:
    file = changed(consent={"text": consent, "sha256": "x"})
    told = f"The consent text says: “{quoted}”" if quoted else ""
    assert loaded(file, "heds-ethics-review_body") == told


def test_a_full_plan_answers_61_of_83() -> None:
    consent = {"text": "Approved by the ethics board.", "sha256": "x"}
    plan = PLAN | {"power": POWER, "panel": "worker", "languages": ["en"], "consent": consent}
    assert heds.counts(simulated(), study()) == (54, 83)
    assert heds.counts(simulated(), study(plan=plan)) == (61, 83)


MINE: dict[str, object] = {
    **{f"1.3.1.{k}": text for k, text in enumerate(("Ada", "Uni", "ada@example.org"), 1)},
    **{"1.3.2.1": "Ada", "1.3.2.2": "Uni", "1.3.2.3": " ", "5.4": "no impact assessment"},
    **{"1.1.1": {"option": 1, "text": "https://example.org/paper"}, "1.2": 2, "3.3.1": 2},
    **{"3.2.2.3": 2, "3.2.2.4": 2, "5.3": 1, "4.3.1.2": {"funny": "humor"}},
}


def test_a_researchers_own_answers_fill_four_fifths_and_go_before_what_is_known() -> None:
    """Asked of the form: at least 80 % of what it asks of an ordinary plan."""
    for plan, filled in ((PLAN, 54 + 13), (PLAN | {"panel": "worker", "power": POWER}, 58 + 13)):
        found = heds.counts(simulated(), study(plan=plan), MINE)
        assert found == (filled, 83)
        assert filled / 83 > 0.8
    own = MINE | {"3.2.1": 99, "5.2": 1}
    file = heds.heds(simulated(), study(), own)
    at = "heds-paper_and_resources-"
    assert loaded(file, f"{at}names_and_affiliations-person_completing_this_sheet-name") == "Ada"
    assert loaded(file, f"{at}paper-link-1") is True
    assert file[f"{at}paper-link-1"]["text"] == {
        "": "1. The main paper reporting the experiment is here (enter URL)."
    }
    assert loaded(file, f"{at}paper-link-other_text") == "https://example.org/paper"
    contact = f"{at}names_and_affiliations-contact_author-email"
    assert loaded(file, contact) == "ada@example.org"  # blank is no answer: the plan's stands
    assert loaded(file, f"{RATERS}number_of_evaluators") == "99"
    assert loaded(file, "heds-ethics-personal_data-1") is True
    assert "heds-ethics-personal_data-2" not in file
    named = f"{ELICITED}qc_name-mapped_criterion_name"
    assert [loaded(file, named, each) for each in ("funny", "again")] == ["humor", ""]


@pytest.mark.parametrize(
    ("number", "typed", "right"),
    [
        ("9.9", "x", "a number of the form, such as 1.3.1.1"),
        ("1.3.1.1", {"option": 1}, "a text"),
        ("3.2.2.3", 4, "one of 1. Yes; 2. No; 3. N/A"),
        ("3.2.2.3", "maybe", "one of 1. Yes"),
        ("3.2.2.3", {"options": [1, 2]}, "one of 1. Yes"),
        ("3.2.2.3", {"text": "only"}, "one of 1. Yes"),
        ("4.1.1", {"funny": 1}, "chosen in the form"),
        ("4.3.1.2", "humor", "an answer by criterion, of: funny, again"),
        ("4.3.1.2", {"witty": "humor"}, "an answer by criterion, of: funny, again"),
    ],
)
def test_an_own_answer_that_the_form_does_not_have_is_named(
    number: str, typed: object, right: str
) -> None:
    with pytest.raises(BadOption) as told:
        heds.heds(simulated(), study(), {number: typed})
    assert number in str(told.value)
    assert right in str(told.value)


def test_the_command_reads_own_answers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table, out, mine = (tmp_path / name for name in ("ratings.csv", "heds.json", "mine.json"))
    table.write_text("rater,system,question,value\nr,a,funny,1\nr,b,funny,3\n", encoding="utf-8")
    mine.write_text(json.dumps(MINE), encoding="utf-8")
    words = [str(table), "--simulate", "0", "--heds", str(out), "--heds-answers", str(mine)]
    assert main(words) == 0
    assert "HEDS 3.0: 23 of 62 questions are filled in" in capsys.readouterr().err
    assert main([*words[:3], *words[5:]]) == 2
    assert "--heds-answers are of a datasheet" in capsys.readouterr().err
    for text, right in (("[1]", "a JSON object such as"), ("{", "a JSON file")):
        mine.write_text(text, encoding="utf-8")
        assert main(words) == 2
        assert right in capsys.readouterr().err


def test_an_option_that_the_form_does_not_have_is_refused() -> None:
    question = next(each for each in form() if each.number == "2.3")
    with pytest.raises(KeyError):
        dict(entries(question, {"": FormAnswer(options=(21,))}))


def test_the_command_writes_the_file_and_says_what_is_left(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table, out = tmp_path / "ratings.csv", tmp_path / "heds.json"
    table.write_text("rater,system,question,value\nr,a,funny,1\nr,b,funny,3\n", encoding="utf-8")
    assert main([str(table), "--simulate", "0", "--heds", str(out)]) == 0
    printed = capsys.readouterr().err
    assert "of 62 questions are filled in" in printed
    assert "  5.1 ethics committee that approved, or that none did: fill in" in printed
    assert loaded(json.loads(out.read_text("utf-8")), f"{RATERS}number_of_evaluators") == "1"
    assert main([str(table), "--json", "--heds", str(out)]) == 2
    assert "--heds write a report" in capsys.readouterr().err


def test_items_that_were_neither_held_nor_given_as_contexts_are_left_open() -> None:
    plan = copy.deepcopy(PLAN)
    del plan["protocol"]["steps"][0]  # the chat: what is rated was imported
    selection = "heds-sample_evaluators_design-sample-system_output_selection"
    people = study().people.iloc[:0]
    file = heds.heds(simulated(), study(plan=plan, people=people))
    assert f"{selection}-6" not in file
    assert loaded(file, f"{RATERS}characteristics") == ""
    some = heds.heds(simulated(), study(plan=plan | {"contexts": [{"key": "k"}]}))
    assert str(loaded(some, f"{selection}-other_text")).startswith("1 fixed context,")
