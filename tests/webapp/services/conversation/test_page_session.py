"""A page's session: whether one of the person's tabs controls already (R10)."""

from __future__ import annotations

import pytest

from tests.factories import NOW, make_campaign, make_participation
from tests.webapp.services.people import conversation_of, pair, people_campaign, start
from webapp.models import Participation
from webapp.services.conversation import page_session
from webapp.services.conversation.page_session import PageSession
from webapp.services.rules import access

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


def test_a_page_is_found_by_its_cookie_and_its_conversation() -> None:
    """S1."""
    campaign = people_campaign(languages=["de", "en"])
    _, person = pair(campaign)
    secret, seat = access.new_secret(), person.seats.get()
    Participation.objects.filter(pk=person.pk).update(secret_hash=access.secret_hash(secret))
    key = access.conversation_key(seat)
    page = page_session.page_session(campaign.slug, secret, key=key, tab="one")
    assert page == PageSession(person, seat.conversation_id, "one", seat.side)
    assert page.languages == ["de", "en"]
    assert page.view.side == seat.side == 1
    again = page_session.page_session_in(campaign.slug, secret, seat.conversation_id, "one")
    assert (again.person, again.conversation_id, again.tab) == (person, seat.conversation_id, "one")
    for slug, wrong in ((campaign.slug, "another"), ("nowhere", secret)):
        with pytest.raises(access.NotFound):
            page_session.page_session(slug, wrong, key=key, tab="one")
        with pytest.raises(access.NotFound):
            page_session.page_session_in(slug, wrong, seat.conversation_id, "one")


@pytest.mark.parametrize(
    ("protocol", "is_endless", "is_labeled"),
    [
        ("personachat_bot", False, False),
        ("meena_interactive", False, True),
        ("convai2_wild", False, True),
        ("meena_static", False, False),
    ],
)
def test_a_page_knows_what_its_protocol_asks(
    protocol: str, is_endless: bool, is_labeled: bool
) -> None:
    view = PageSession(make_participation(make_campaign(protocol, personas=0))).view
    assert (view.side, view.is_endless, view.is_labeled) == (0, is_endless, is_labeled)
