"""A page's session: whether one of the person's tabs controls already (R10)."""

from __future__ import annotations

import pytest

from tests.factories import NOW, make_campaign, make_participation
from tests.webapp.services.people import conversation_of, start
from webapp.services.conversation.page_session import PageSession

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(("tab", "is_new"), [("", True), ("tab-1", False)])
def test_a_person_is_new_until_a_tab_controls(tab: str, is_new: bool) -> None:
    person = make_participation(make_campaign(personas=0), tab=tab)
    assert PageSession(person).is_new is is_new


def test_a_page_is_its_persons() -> None:
    person = make_participation(make_campaign(personas=0))
    assert PageSession(person).person_pk == person.pk


def test_a_tab_that_takes_over_is_the_persons_from_then_on() -> None:
    person = start(make_campaign())
    page = PageSession(person, conversation_of(person).pk).take_over("new", NOW)
    assert (page.tab, page.is_new) == ("new", False)
    person.refresh_from_db()
    assert person.tab == "new"
