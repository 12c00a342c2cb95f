"""Grades on their page: five replies in an order of each rater, without names; no other grade."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from tests.webapp.services.judged import replies_campaign
from tests.webapp.views.visiting import Visit
from webapp.models import Assignment, Campaign, Rating

pytestmark = pytest.mark.django_db
FIVE = ("alphasystem", "betasystem", "gammasystem", "deltasystem", "epsilonsystem")
PEOPLE = 30


def campaign_of(protocol: str, *systems: str, votes: int = 1) -> Campaign:
    """Return a campaign of one context, with a reply of every system."""
    replies = {name: f"Answer {number}." for number, name in enumerate(systems)}
    rows = [{"id": "k", "messages": ["Hello.", "A question?"], "replies": replies}]
    return replies_campaign(protocol, rows, votes=votes, batch=1)


def entered(campaign: Campaign) -> Visit:
    found = Visit(campaign)
    found.join()
    found.post("start")
    return found


def texts(page: Any) -> list[str]:
    """Return the replies of a page, from the top."""
    body = page.content.decode()
    found = sorted((body.index(f"Answer {number}."), number) for number in range(len(FIVE)))
    return [f"Answer {number}." for _, number in found]


def test_five_replies_stand_on_one_page_in_an_order_of_each_rater_that_stays() -> None:
    campaign = campaign_of("reply_grades", *FIVE, votes=PEOPLE)
    orders, first = set[tuple[str, ...]](), Counter[str]()
    for _ in range(PEOPLE):
        person = entered(campaign)
        page = person.get()
        assert page.content.decode().count('class="reply"') == len(FIVE)
        assert len(page.context["fields"]) == len(FIVE)
        order = texts(page)
        assert order == texts(person.get()), "a reload changes nothing"
        orders.add(tuple(order))
        first[order[0]] += 1
        assert not [name for name in FIVE if name in "\n".join(person.told)]
    assert len(orders) > PEOPLE // 2
    assert len(first) == len(FIVE)


@pytest.mark.parametrize(
    ("protocol", "systems", "grades"),
    [("reply_grades", FIVE, ("0", "1", "2")), ("graded_pairs", FIVE[:2], ("0", "1", "2", "3"))],
)
def test_only_the_four_grades_are_taken_and_none_left_out(
    protocol: str, systems: tuple[str, ...], grades: tuple[str, ...]
) -> None:
    """The three, where there are three."""
    person = entered(campaign_of(protocol, *systems))
    fields = person.get().context["fields"]
    graded = [field.name for field in fields if field.name.endswith(".grade")]
    assert len(graded) == len(systems)
    right = {field.name: field.answer.options[0].value for field in fields}
    right |= dict(zip(graded, (*grades, *grades), strict=False))
    for wrong in ("-1", str(len(grades)), "0.5", "great", None):
        raw = {name: value for name, value in right.items() if name != graded[0]}
        refused = person.post("rate", raw | ({} if wrong is None else {graded[0]: wrong}))
        assert refused.status_code == 422
        kept = {field.name: field.value for field in refused.context["fields"]}
        assert {name: kept[name] for name in raw} == raw
        assert not Rating.objects.exists()
        assert Assignment.objects.get().state == "RESERVED"
    assert person.post("rate", right).context["screen"].end.code
    stored = Rating.objects.filter(question="grade").values_list("candidate__key", "value")
    assert {f"{key}.grade": str(value) for key, value in stored} == {
        name: right[name] for name in graded
    }
