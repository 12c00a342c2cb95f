"""PM-P2 on pages: a list is judged whole, by five people, one list each, who read no author."""

from __future__ import annotations

from typing import Any

import pytest

from tests.asking import imported
from tests.webapp.views.judging import arrived, asked, judge, rate
from tests.webapp.views.visiting import Visit
from webapp.models import Assignment, Campaign, Rating

pytestmark = [pytest.mark.django_db, pytest.mark.timeout(300)]
TEXTS, VOTES = 50, 5
CHARACTERS = ("Captain Hook", "Wendy")


def lists(texts: int = TEXTS) -> list[dict[str, Any]]:
    """Return one list of texts of two authors, to be judged for each character."""
    lines = {
        author: [f"Line {n} of somebody." for n in range(place, texts, 2)]
        for place, author in enumerate(("authorone", "authortwo"))
    }
    return [
        {"id": f"list{k}", "messages": [], "character": name, "replies": lines}
        for k, name in enumerate(CHARACTERS)
    ]


def campaign_of(texts: int = TEXTS, characters: int = 2) -> Campaign:
    return imported("persona_likely", lists(texts)[:characters])


def test_a_list_of_fifty_is_sent_whole_or_not_at_all() -> None:
    visit = arrived(campaign_of())
    names = list(asked(visit.get()))
    assert len(names) == TEXTS
    for count in (TEXTS - 1, 1, 0):
        page = rate(visit, dict.fromkeys(names[:count], "1"))
        assert page.context["screen"].name == "rate"
        assert not Rating.objects.exists()
    assert rate(visit, dict.fromkeys(names, "1")).context["screen"].name == "ended"
    assert Rating.objects.count() == TEXTS


@pytest.mark.parametrize("bad", ["2", "maybe", ""])
def test_an_utterance_is_likely_or_not_and_nothing_else(bad: str) -> None:
    visit = arrived(campaign_of(4))
    names = list(asked(visit.get()))
    assert rate(visit, dict.fromkeys(names, "1") | {names[-1]: bad}).status_code == 422
    assert not Rating.objects.exists()


def test_the_page_names_the_character_and_no_author() -> None:
    visit = arrived(campaign_of(8))
    page = visit.get().content.decode()
    assert sum(name in page for name in CHARACTERS) == 1
    assert "Line 0 of somebody." in page
    assert not [told for told in visit.told if "authorone" in told or "authortwo" in told]


def test_five_people_judge_each_list_one_list_each_and_a_sixth_gets_none() -> None:
    campaign = campaign_of(4)
    judges = [judge(campaign, lambda one: "1") for _ in range(VOTES * len(CHARACTERS))]
    for visit in judges:
        assert visit.get().context["screen"].end.code
        assert Assignment.objects.filter(participation=visit.person, state="DONE").count() == 1
    counts = [item.completed for item in campaign.items.all()]
    assert counts == [VOTES] * len(CHARACTERS)
    more = Visit(campaign)
    page = more.join()
    assert page.context.get("screen") is None or page.context["screen"].name != "rate"
    assert Rating.objects.count() == 4 * VOTES * len(CHARACTERS)


def test_who_has_judged_a_list_is_asked_about_no_other() -> None:
    campaign = campaign_of(4)
    visit = judge(campaign, lambda one: "1")
    again = Visit(campaign)
    again.name = visit.name
    again.join()
    again.post("start")
    rate(again, dict.fromkeys(_names(campaign), "1"))
    assert Rating.objects.count() == 4


def _names(campaign: Campaign) -> list[str]:
    """Return the fields of all texts, as somebody would send them who knew them."""
    items = campaign.items.prefetch_related("candidates")
    return [f"{each.key}.likely" for item in items for each in item.candidates.all()]
