"""Questions behind others, while chatting and at the end: asked, closed, stored and exported.

Rules V1.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from tests.asking import chatting, more_protocols
from tests.webapp.views.visiting import Visit, campaign_of
from webapp.crowd.answers import replies
from webapp.crowd.page import read
from webapp.crowd.people import Mix, draw_people
from webapp.models import Rating
from webapp.services.campaign import launch
from webapp.services.data import codebook, tables
from webapp.services.rating import labels

pytestmark = pytest.mark.django_db
PROTOCOL = '''"""Asks three questions, each behind the one before."""

from evaluation import Chat, Choice, Draw, Gate, Protocol, Rate, YesNo

MOOD = Choice.sample()
BAD = Gate("mood", ("sad", "neither"))
WHY = YesNo(name="why", text="Was it the tone?", only_if=BAD, otherwise=1)
DEEP = YesNo(name="deep", text="And the words?", only_if=Gate("why"), otherwise=0)

PROTOCOL = Protocol(
    name="{name}",
    title="Three questions",
    source="this test",
    minutes=1,
    instructions=("Chat.",),
    steps=(
        Chat(partner="bot", told="A bot.", minimum=Draw((2,)), pool="test"),
        Rate(each=(MOOD, WHY, DEEP), over="{over}", when="{when}"),
    ),
)
'''


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    with more_protocols(tmp_path):
        yield tmp_path


def visit_of(folder: Path, when: str) -> Visit:
    """Return somebody who has chatted under such a protocol."""
    name, over = f"asks_three_{when}", "messages" if when == "live" else "partner"
    text = PROTOCOL.format(name=name, over=over, when=when)
    (folder / f"{name}.py").write_text(text, encoding="utf-8")
    importlib.invalidate_caches()
    return chatting(campaign_of(name))


def stored(visit: Visit) -> dict[str, tuple[object, str]]:
    """Return each question's answer in the export, and whether it follows."""
    frame = tables.ratings(visit.campaign, include_excluded=True)
    rows = zip(frame["question"], frame["value"], frame["follows"], strict=True)
    return {question: (value, follows) for question, value, follows in rows}


FORMS = [
    ({"mood": "sad", "why": "1", "deep": "1"}, [("sad", "0"), (1, "0"), (1, "0")]),
    ({"mood": "neither", "why": "0"}, [("neither", "0"), (0, "0"), (0, "1")]),
    ({"mood": "glad"}, [("glad", "0"), (1, "1"), (0, "1")]),
]


@pytest.mark.parametrize(("answers", "wanted"), FORMS)
def test_a_form_stores_what_was_asked_and_what_follows(
    folder: Path, answers: dict[str, str], wanted: list[tuple[object, str]]
) -> None:
    visit = visit_of(folder, "after")
    visit.send(type="finish", id=str(uuid4()))
    page = visit.get()
    gates = {
        field.question.name: (field.gate, field.gate_values) for field in page.context["fields"]
    }
    assert gates == {
        "mood": ("", "[]"),
        "why": ("p.mood", '["sad", "neither"]'),
        "deep": ("p.why", '["1"]'),
    }
    done = visit.post("rate", {f"p.{name}": value for name, value in answers.items()})
    assert done.context["screen"].name == "ended"
    assert stored(visit) == dict(zip(("mood", "why", "deep"), wanted, strict=True))
    assert not tables.ratings(visit.campaign).empty


@pytest.mark.parametrize(("answers", "wanted"), FORMS)
def test_labels_store_the_same(
    folder: Path, answers: dict[str, str], wanted: list[tuple[object, str]]
) -> None:
    visit = visit_of(folder, "live")
    for revision, (name, value) in enumerate(answers.items(), start=1):
        assert label(visit, name, value, revision) == "ack"
    assert stored(visit) == dict(zip(("mood", "why", "deep"), wanted, strict=True))


def test_a_label_behind_a_closed_question_is_refused_and_asked_for_once_it_opens(
    folder: Path,
) -> None:
    visit = visit_of(folder, "live")
    conversation = visit.person.seats.get().conversation
    assert label(visit, "why", "1", 1) != "ack"
    assert label(visit, "mood", "glad", 2) == "ack"
    assert labels.unlabeled(conversation) == []
    for name in ("why", "deep"):  # its stored 1 would open the last one, and was not given
        assert label(visit, name, "1", 3) != "ack"
    assert label(visit, "mood", "sad", 4) == "ack"
    (seq,) = labels.unlabeled(conversation)
    assert label(visit, "why", "1", 5) == label(visit, "deep", "1", 6) == "ack"
    assert labels.unlabeled(conversation) == []
    assert label(visit, "mood", "glad", 7) == "ack"
    assert stored(visit) == dict(zip(("mood", "why", "deep"), FORMS[2][1], strict=True))
    assert Rating.objects.filter(candidate__seq=seq, follows=True).exists()


def label(visit: Visit, question: str, value: str, revision: int) -> str:
    """Label the bot's message over the wire; return the type of the first answer."""
    frame = {"type": "label", "id": str(uuid4()), "seq": 2, "question": question}
    answer: str = visit.send(**frame, value=value, revision=revision)[0]["type"]
    return answer


@pytest.mark.parametrize("when", ["after", "live"])
def test_simulated_people_answer_what_is_open_and_nothing_else(folder: Path, when: str) -> None:
    visit = visit_of(folder, when)
    if when == "after":
        visit.send(type="finish", id=str(uuid4()))
    page = read(visit.get().content.decode())
    form = page.form("/rate")
    questions = form.questions if form else page.labels
    names = [each.name.rpartition(".")[2] for each in questions]
    assert names == ["mood", "why", "deep"]
    met = set()
    for person in draw_people(60, seed=1, mix=Mix()):
        found = dict(replies(person, questions, {}, ""))
        given = {name.rpartition(".")[2]: value for name, value in found.items()}
        assert ("why" in given) == (given["mood"] in ("sad", "neither"))
        assert ("deep" in given) == (given.get("why") == "1")
        met.add(tuple(given))
    assert met == {("mood",), ("mood", "why"), ("mood", "why", "deep")}


def test_codebook_and_plan_name_the_answers(folder: Path) -> None:
    visit = visit_of(folder, "after")
    book = codebook.codebook(visit.campaign)
    text = codebook.as_markdown(book)
    assert "  Asked only if mood is sad or neither; else 1." in text
    assert "  Asked only if why is 1; else 0." in text
    json.dumps(book)
    visit.campaign.refresh_from_db()
    _chat, rate = launch.plan_of(visit.campaign)["protocol"]["steps"]
    assert [each["only_if"] for each in rate["each"]] == [
        None,
        {"question": "mood", "values": ["sad", "neither"]},
        {"question": "why", "values": [1]},
    ]
