"""Requests that no page would send, to every address: refused, and no error of the server (G9)."""

from __future__ import annotations

import logging
import resource
from collections.abc import Iterator

import pytest
from django.contrib.auth import get_user_model
from django.test import Client

from tests.webapp.views import nasty
from tests.webapp.views.staff.addresses import addresses, filled, of
from tests.webapp.views.visiting import Visit, campaign_of, rating_visit
from webapp.models import Campaign, OwnProtocol
from webapp.views.audience import Audience

pytestmark = pytest.mark.django_db
OUT = "logout/"  # who is signed out asks nothing more
MOST = 50_000  # kB that the process may grow by


def careless() -> Client:
    return Client(raise_request_exception=False)


def of_staff(campaign: Campaign, rounds: int) -> tuple[int, dict[str, str]]:
    client = careless()
    root, _ = get_user_model().objects.get_or_create(
        username="root", is_superuser=True, is_staff=True
    )
    client.force_login(root)
    OwnProtocol.objects.update(owner=root)
    all_of_them = [address for address in addresses(campaign) if not address.endswith(OUT)]
    return nasty.faults(client, all_of_them, rounds=rounds, seed=rounds)


def of_participants(rounds: int) -> tuple[int, dict[str, str]]:
    """Ask as who chats, as who rates, and as a stranger."""
    chatting = Visit(campaign_of())  # with a bot
    chatting.join()
    chatting.post("start")
    rating = rating_visit()
    audiences = (Audience.PUBLIC, Audience.PARTICIPANT, Audience.SERVICE)
    total, found = 0, dict[str, str]()
    for visit in (chatting, rating, Visit(chatting.campaign)):
        client = careless()
        client.cookies = visit.client.cookies
        known = {"slug": visit.campaign.slug, "token": "x", "rest": "x", "sha256": "0" * 64}
        asked = [filled(r, **known) for a in audiences for r in of(a) if "readyz" not in r]
        count, faults = nasty.faults(client, asked, rounds=rounds, seed=rounds)
        total, found = total + count, found | faults
    return total, found


def of_all(campaign: Campaign, rounds: int) -> int:
    asked, found = of_staff(campaign, rounds)
    also, of_people = of_participants(rounds)
    assert found | of_people == {}
    return asked + also


@pytest.mark.timeout(300)
def test_no_request_is_an_error_of_the_server(campaign: Campaign) -> None:
    assert of_all(campaign, 1) > 1_500


@pytest.fixture
def unlogged() -> Iterator[None]:
    """Let no log be kept: pytest holds each record, and with it the whole request."""
    logging.disable()
    yield
    logging.disable(logging.NOTSET)


@pytest.mark.slow
@pytest.mark.timeout(3_000)
@pytest.mark.usefixtures("unlogged")
def test_nor_is_any_of_twenty_thousand_and_the_server_does_not_grow(campaign: Campaign) -> None:
    of_all(campaign, 3)  # what is imported with the first of them
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert of_all(campaign, 100) >= 20_000
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < MOST, f"grown by {grown} kB"
