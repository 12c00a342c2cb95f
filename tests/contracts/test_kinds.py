"""Kinds of question: what every file of `evaluation/kinds/` must do, from the page to the export.

The kinds are found in their folder, and asked by protocols that are written for the test. It is
long because every promise of a kind is tested in one place.
"""

from __future__ import annotations

import ast
import csv
import importlib
import io
import json
import re
import zipfile
from collections.abc import Iterator
from functools import cache
from html import unescape
from pathlib import Path
from typing import Any, get_args
from uuid import uuid4

import pytest
from django.test import Client
from django.urls import reverse
from hypothesis import given
from hypothesis import strategies as st

from evaluation import InvalidAnswer, Level, Question, Rate, Shown
from evaluation.registry import UnknownKind, get_kind, kind_names
from tests.asking import campaign_asking, chatting, more_protocols, rating
from tests.factories import NOW, make_staff
from webapp.crowd import answers
from webapp.crowd.page import read
from webapp.crowd.people import Mix, Person, draw_people
from webapp.models import Campaign, Participation, Rating
from webapp.services.data import exports

ROOT = Path(__file__).parents[2]
kinds = pytest.mark.parametrize("kind", kind_names())
QUESTIONS = {name: get_kind(name).sample() for name in kind_names()}
LIVE = [name for name, question in QUESTIONS.items() if question.while_chatting]


def shown_for(question: Question) -> Shown:
    """What could have been drawn for a rater of this question."""
    drawn = question.personas_beside() is not None
    return Shown(
        ("a", "b") if question.compares else ("a",),
        {question.name: ("p1", "p2", "p3")} if drawn else {},
    )


# --- the class alone --------------------------------------------------------------------------


@kinds
def test_is_named_for_its_file_and_its_template(kind: str) -> None:
    module, question = importlib.import_module(f"evaluation.kinds.{kind}"), QUESTIONS[kind]
    assert module.KIND is get_kind(kind) is type(question)
    assert (question.kind, question.level in get_args(Level)) == (kind, True)
    assert module.__doc__
    assert type(question).__doc__
    assert (ROOT / "templates" / "questions" / f"{kind}.html").is_file()


@kinds
def test_good_answers_round_trip_and_reach_both_ends_of_the_scale(kind: str) -> None:
    question, shown = QUESTIONS[kind], shown_for(QUESTIONS[kind])
    values = [question.parse(raw, shown) for raw in question.sample_answers(shown)]
    assert len(set(values)) > 1
    for value in values:
        assert question.parse(str(value), shown) == value
        assert question.words(value)
    if question.scale is not None:
        assert {min(values), max(values)} == set(question.scale)


@kinds
@pytest.mark.parametrize("otherwise", [-1.5, "nothing"])
def test_what_is_stored_where_it_is_not_asked_has_words_too(
    kind: str, otherwise: float | str
) -> None:
    assert str(otherwise) in QUESTIONS[kind].words(otherwise)


@kinds
def test_bad_answers_are_refused_with_what_would_be_right(kind: str) -> None:
    question, shown = QUESTIONS[kind], shown_for(QUESTIONS[kind])
    bad = question.bad_answers(shown)
    assert "" in bad
    assert len(bad) > 2
    for raw in bad:
        with pytest.raises(InvalidAnswer) as refusal:
            question.parse(raw, shown)
        complaint = str(refusal.value)
        assert complaint[0].isupper(), "a sentence"
        assert complaint.endswith(".")


@kinds
@given(raw=st.text())
def test_any_text_is_an_answer_that_can_be_stored_or_is_refused(kind: str, raw: str) -> None:
    question, shown = QUESTIONS[kind], shown_for(QUESTIONS[kind])
    try:
        value = question.parse(raw, shown)
    except InvalidAnswer:
        return
    stored = json.loads(json.dumps(value, allow_nan=False))
    assert question.parse(str(stored), shown) == value


@pytest.mark.parametrize("kind", sorted(set(kind_names()) - set(LIVE)))
def test_what_is_asked_after_the_chat_only_cannot_be_asked_of_messages(kind: str) -> None:
    with pytest.raises(ValueError, match=f"question {QUESTIONS[kind].name}: a {kind} can only"):
        Rate(each=(QUESTIONS[kind],), over="messages", when="live")


@cache
def imported_by_the_web() -> dict[Path, list[ast.ImportFrom]]:
    """What each module of the web takes from `evaluation`."""
    found = {}
    for module in (ROOT / "webapp").rglob("*.py"):
        nodes = ast.walk(ast.parse(module.read_text(encoding="utf-8")))
        froms = [node for node in nodes if isinstance(node, ast.ImportFrom)]
        found[module] = [node for node in froms if (node.module or "").startswith("evaluation")]
    return found


@kinds
def test_the_web_imports_no_kind_and_no_script_names_one(kind: str) -> None:
    name = get_kind(kind).__name__
    modules = imported_by_the_web()
    assert len(modules) > 100
    for module, ours in modules.items():
        assert name not in {alias.name for node in ours for alias in node.names}, module
        assert not any("evaluation.kinds" in (node.module or "") for node in ours), module
    for script in (ROOT / "static").glob("*.js"):
        assert not re.search(rf"[\"'`]{kind}[\"'`]", script.read_text(encoding="utf-8")), script


def test_an_unknown_kind_is_named() -> None:
    with pytest.raises(UnknownKind, match="no kind of question 'nothing'; there are choice, "):
        get_kind("nothing")


# --- on the page, and from there to the export ------------------------------------------------


@pytest.fixture
def asking(kind: str, db: None, tmp_path: Path) -> Iterator[Campaign]:
    """A campaign that asks one question of the kind after the chat."""
    with more_protocols(tmp_path):
        yield campaign_asking(tmp_path, kind)


@pytest.fixture
def labeling(kind: str, db: None, tmp_path: Path) -> Iterator[Campaign]:
    """A campaign that asks one question of the kind under every message."""
    with more_protocols(tmp_path):
        yield campaign_asking(tmp_path, kind, over="messages", when="live")


def exported(campaign: Campaign, folder: Path) -> dict[str, str]:
    with zipfile.ZipFile(exports.write(campaign=campaign, folder=folder, now=NOW)) as archive:
        return {
            name: archive.read(name).decode()
            for name in archive.namelist()
            if name.endswith((".csv", ".json", ".md"))
        }


def shown_to(visit: Any) -> Shown:
    """What was drawn for the rater in front of a form."""
    shown: Shown = visit.get().context["screen"].form.shown
    return shown


def filled_in(visit: Any, field: Any, raw: str) -> dict[str, str]:
    """Return a form that can be sent: of replies that are compared, each has another answer."""
    others = [one.name for one in visit.get().context["fields"] if one.name != field.name]
    rest = [other for other in field.question.sample_answers(shown_to(visit)) if other != raw]
    return {field.name: raw, **dict(zip(others, rest, strict=False))}


def fieldset(page: Any, field: Any) -> str:
    """Return the HTML of one question."""
    start = f'id="{field.id}" data-name'
    return str(page.content.decode().partition(start)[2].partition("</fieldset>")[0])


def is_cell(text: str, value: Any) -> bool:
    """Tell whether a cell of a CSV file holds a value."""
    return text == value if isinstance(value, str) else float(text) == float(value)


@kinds
def test_the_page_asks_and_leads_from_a_complaint_to_the_input(asking: Campaign, kind: str) -> None:
    visit, field = rating(asking)
    for bad in field.question.bad_answers(shown_to(visit)):
        page = visit.post("rate", filled_in(visit, field, bad))
        html = unescape(page.content.decode())
        assert page.status_code == 422
        (problem,) = page.context["problems"]
        link = f'<a href="#{field.id}-1">'
        assert html.partition(link)[2].partition("</li>")[0].endswith(f"</a> {problem.error}")
        assert f'id="{field.id}-1"' in html
        assert f'data-kind="{kind}"' in html
    assert not Rating.objects.exists()
    assert visit.person.state == Participation.State.RATING


@kinds
def test_an_unfinished_answer_stands_on_the_page_again(asking: Campaign, kind: str) -> None:
    visit, field = rating(asking)
    seen = [fieldset(visit.get(), field)]
    for raw in field.question.sample_answers(shown_to(visit)):
        draft = json.dumps({"answers": {field.name: raw}})
        assert visit.post("draft", draft, content_type="application/json").json()["saved"]
        page = visit.get()
        assert page.context["fields"][-1].value == raw
        seen.append(fieldset(page, field))
    assert len(set(seen)) == len(seen), "each answer looks different, and so does none"


@kinds
def test_answers_are_stored_exported_explained_and_printed(
    asking: Campaign, kind: str, tmp_path: Path
) -> None:
    question = QUESTIONS[kind]
    for end in (0, -1):
        visit, field = rating(asking)
        shown = shown_to(visit)
        raw = question.sample_answers(shown)[end]
        assert visit.post("rate", filled_in(visit, field, raw)).context["screen"].end.code
        key = field.about if field.about in shown.candidates else shown.candidates[0]
        stored = Rating.objects.filter(candidate__key=key).latest("pk")
        assert stored.value == question.spread(question.parse(raw, shown), shown)[key]
        conversation = stored.candidate.conversation
        partner = conversation.seats.get(side=1).persona
        found = exported(asking, tmp_path / str(end))
        rows = csv.DictReader(io.StringIO(found["ratings.csv"]))
        (row,) = (each for each in rows if each["answer"] == str(stored.pk))
        value, chosen = question.cells(stored.value, partner.key if partner else "")
        assert is_cell(row["value"], value)
        assert (row["chosen"], row["level"]) == (chosen, question.level)
        if question.scale is not None:
            assert (float(row["scale_low"]), float(row["scale_high"])) == question.scale
        (about,) = json.loads(found["codebook.json"])["questions"]
        assert (about["kind"], about["points"]) == (kind, question.meanings())
        assert question.text in found["codebook.md"]
        assert all(word in found["codebook.md"] for word in question.meanings().values())
        staff = Client()
        staff.force_login(make_staff())
        page = staff.get(reverse("conversation", args=[asking.pk, conversation.pk]))
        assert question.words(stored.value) in unescape(page.content.decode())


@pytest.mark.parametrize(
    ("kind", "otherwise"),
    [
        (name, otherwise)
        for name, question in QUESTIONS.items()
        for otherwise in ("nothing", "", *([-99] if question.scale else []))
        if not question.compares
    ],
)
def test_what_is_stored_in_place_of_an_answer_is_exported_and_printed(
    kind: str, otherwise: str | int, db: None, tmp_path: Path
) -> None:
    """Where nothing is, it has no row; nor has what is off a scale, which nobody could analyze."""
    with more_protocols(tmp_path):
        campaign = campaign_asking(tmp_path, kind, gated=True, otherwise=otherwise)
        visit, _field = rating(campaign)
        assert visit.post("rate", {"p.gate": "0"}).context["screen"].end.code
        stored = Rating.objects.get(question=QUESTIONS[kind].name)
        assert (stored.value, stored.follows) == (otherwise, True)
        rows = csv.DictReader(io.StringIO(exported(campaign, tmp_path)["ratings.csv"]))
        found = [each for each in rows if each["answer"] == str(stored.pk)]
        assert len(found) == bool(otherwise and QUESTIONS[kind].scale is None)
        assert all(str(otherwise) in (row["value"], row["chosen"]) for row in found)
        staff = Client()
        staff.force_login(make_staff())
        conversation = stored.candidate.conversation
        page = staff.get(reverse("conversation", args=[campaign.pk, conversation.pk]))
        answers = {one.question: one.value for one in page.context["transcript"].answers}
        assert str(otherwise) in answers[stored.question]
        assert answers[stored.question] in unescape(page.content.decode())


@pytest.mark.parametrize("kind", LIVE)
def test_labels_are_given_while_chatting(labeling: Campaign, kind: str, tmp_path: Path) -> None:
    visit = chatting(labeling)
    (asked,) = read(visit.get().content.decode()).labels
    question = QUESTIONS[kind]
    assert (asked.name, asked.kind) == (question.name, kind)
    assert asked.options or asked.input
    label = {"type": "label", "seq": 2, "question": question.name}
    for bad in question.bad_answers(Shown(())):
        (frame,) = visit.send(**label, id=str(uuid4()), value=bad, revision=1)[:1]
        assert frame["type"] in ("error", "refused"), bad
    assert not Rating.objects.exists()
    good = question.sample_answers(Shown(()))
    for revision, raw in enumerate(good, start=1):
        (frame,) = visit.send(**label, id=str(uuid4()), value=raw, revision=revision)[:1]
        assert frame["type"] == "ack"
    visit.send(type="finish", id=str(uuid4()))
    assert visit.person.state == Participation.State.ENDED
    (row,) = csv.DictReader(io.StringIO(exported(labeling, tmp_path)["ratings.csv"]))
    assert is_cell(row["value"], question.parse(good[-1], Shown(())))


# --- simulated people -------------------------------------------------------------------------


@kinds
def test_simulated_people_answer_the_page(asking: Campaign, kind: str) -> None:
    visit, field = rating(asking)
    form = read(visit.get().content.decode()).form("/rate")
    assert form is not None
    shown = shown_to(visit)
    page: dict[str, Any] = {"shown": {key: {} for key in shown.candidates}}
    page = page if field.question.compares else {}
    filled = answers.fill(Person(name="ann", seed=1), form, {}, "", "0", **page)
    assert visit.post("rate", {**form.sent, **filled}).context["screen"].end.code
    many = draw_people(40, seed=1, mix=Mix(severity=1, noise=1))
    given = {
        field.question.parse(answers.fill(each, form, {}, "", **page)[field.name], shown)
        for each in many
    }
    assert len(given) > 1, "people differ"


@pytest.mark.parametrize("kind", LIVE)
def test_simulated_people_label_while_chatting(labeling: Campaign, kind: str) -> None:
    visit = chatting(labeling)
    labels = read(visit.get().content.decode()).labels
    ((name, value),) = answers.replies(Person(name="ann", seed=1), labels, {}, "", 0, 2)
    label = {"type": "label", "seq": 2, "question": name, "value": value, "revision": 1}
    assert visit.send(**label, id=str(uuid4()))[0]["type"] == "ack"
