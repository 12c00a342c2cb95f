"""Two replies side by side on their page: one answer to each question, and the ties offered."""

from __future__ import annotations

import pytest

from tests.webapp.services.judged import replies_campaign
from tests.webapp.views.visiting import Visit
from webapp.models import Assignment, Rating
from webapp.services.data import tables

pytestmark = pytest.mark.django_db
CRITERIA = ("word_coherency", "dialogue_continuity")


def visit(protocol: str) -> Visit:
    """Return somebody whose page has two replies."""
    replies = {"alpha": "Answer 0.", "beta": "Answer 1."}
    rows = [{"id": "k", "messages": ["Hello.", "A question?"], "replies": replies}]
    found = Visit(replies_campaign(protocol, rows, votes=1, batch=1))
    found.join()
    found.post("start")
    return found


def options(person: Visit) -> dict[str, list[str]]:
    """Return what each question of the page can be answered with, by the name of its field."""
    fields = person.get().context["fields"]
    return {field.name: [each.value for each in field.answer.options] for field in fields}


@pytest.mark.parametrize("tie", ["equally good", "equally bad"])
def test_equally_good_and_equally_bad_are_two_answers(tie: str) -> None:
    person = visit("graded_pairs")
    found = options(person)
    (better,) = (name for name in found if name.endswith(".better"))
    assert len(found[better]) == 4
    assert set(found[better][-2:]) == {"equally good", "equally bad"}
    right = {name: values[0] for name, values in found.items()} | {better: tie}
    for wrong in ("equal", "neither", ""):
        assert person.post("rate", right | {better: wrong}).status_code == 422
        assert not Rating.objects.exists()
    assert person.post("rate", right).context["screen"].end.code
    table = tables.ratings(person.campaign)
    ranks = table[table["question"] == "better"]
    assert list(ranks["value"]) == [1.0, 1.0]
    assert set(ranks["chosen"]) == {tie}


@pytest.mark.parametrize("missing", CRITERIA)
def test_word_coherency_and_dialogue_continuity_are_two_questions_with_an_answer_each(
    missing: str,
) -> None:
    person = visit("coherency_pairs")
    found = options(person)
    assert [name.rpartition(".")[2] for name in found] == [*CRITERIA]
    assert all(len(values) == 3 and values[-1] == "neither" for values in found.values())
    right = {name: values[place] for place, (name, values) in enumerate(found.items())}
    (left,) = (name for name in found if name.endswith(missing))
    for raw in ({k: v for k, v in right.items() if k != left}, right | {left: "both"}):
        refused = person.post("rate", raw)
        assert refused.status_code == 422
        (other,) = (field for field in refused.context["fields"] if field.name != left)
        assert other.value == right[other.name], "what was answered is kept"
        assert not Rating.objects.exists()
        assert Assignment.objects.get().state == "RESERVED"
    assert person.post("rate", right).context["screen"].end.code
    table = tables.ratings(person.campaign)
    values = table.sort_values("place").groupby("question")["value"].apply(list)
    assert values.to_dict() == {CRITERIA[0]: [1.0, 2.0], CRITERIA[1]: [2.0, 1.0]}


def test_neither_is_an_answer_to_one_question_alone() -> None:
    person = visit("coherency_pairs")
    first, second = options(person).items()
    answers = {first[0]: "neither", second[0]: second[1][0]}
    assert person.post("rate", answers).context["screen"].end.code
    table = tables.ratings(person.campaign)
    tied = {name: set(rows["chosen"]) for name, rows in table.groupby("question")}
    assert tied == {CRITERIA[0]: {"neither"}, CRITERIA[1]: {""}}
