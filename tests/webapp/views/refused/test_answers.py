"""A question and its answer on their page: yes, no or can't tell, and nothing else."""

from __future__ import annotations

import pytest

from tests.webapp.services.judged import replies_campaign
from tests.webapp.views.visiting import Visit
from webapp.models import Assignment, Rating
from webapp.services.data import tables

pytestmark = pytest.mark.django_db
OPTIONS = ["yes", "no", "can't tell"]


@pytest.mark.parametrize("word", OPTIONS)
def test_a_pair_is_plausible_or_not_or_nobody_can_tell(word: str) -> None:
    replies = {"alphasystem": "By card.", "betasystem": "Never."}
    rows = [{"id": "k", "messages": ["How do I pay?"], "replies": replies}]
    person = Visit(replies_campaign("answer_plausibility", rows, votes=1, batch=1))
    person.join()
    person.post("start")
    page = person.get()
    (field,) = page.context["fields"]
    assert [option.value for option in field.answer.options] == OPTIONS
    assert "How do I pay?" in page.content.decode()
    for wrong in ({field.name: ""}, {field.name: "maybe"}, {field.name: "1"}, {}):
        assert person.post("rate", wrong).status_code == 422
        assert not Rating.objects.exists()
        assert Assignment.objects.filter(state="RESERVED").count() == 1
    assert person.post("rate", {field.name: word}).context["screen"].end.code
    assert list(tables.ratings(person.campaign)["value"]) == [word]
    assert not [name for name in replies if name in "\n".join(person.told)]
