"""Who may see staff's pages, signing in, and what the admin shows."""

from __future__ import annotations

import pytest
from django.contrib.auth import get_user_model
from django.test import Client
from django.urls import reverse

from tests.factories import make_campaign, make_staff
from tests.webapp.views.staff_addresses import NAMES, OPEN_TO_ALL, PATTERNS, addresses, arguments
from webapp.models import (
    Campaign,
    Participation,
    ReplyJob,
    System,
)

pytestmark = pytest.mark.django_db


def test_the_matrix_has_every_address() -> None:
    assert len(NAMES) == len(PATTERNS) - 3  # login, its place under admin/, logout
    assert {"campaigns", "live", "conversation", "person", "launch", "test-chat"} <= set(NAMES)


@pytest.mark.parametrize("method", ["get", "post"])
def test_who_is_not_signed_in_is_sent_to_the_login(
    client: Client, campaign: Campaign, method: str
) -> None:
    for address in addresses(campaign):
        answer = getattr(client, method)(address)
        assert answer.status_code == 302, address
        assert answer["Location"].startswith("/login/"), address


@pytest.mark.parametrize("method", ["get", "post"])
def test_an_account_that_is_no_staff_is_refused(
    client: Client, campaign: Campaign, method: str
) -> None:
    client.force_login(get_user_model().objects.create_user("guest"))
    for address in addresses(campaign):
        assert getattr(client, method)(address).status_code == 403, address


def test_staff_see_every_page_and_no_get_changes_anything(ann: Client, campaign: Campaign) -> None:
    before = [*Campaign.objects.values(), *System.objects.values(), *ReplyJob.objects.values()]
    for address in addresses(campaign):
        assert ann.get(address).status_code in (200, 302, 405, 409), address
    assert before == [
        *Campaign.objects.values(),
        *System.objects.values(),
        *ReplyJob.objects.values(),
    ]


def test_a_post_without_its_token_is_refused(campaign: Campaign) -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(make_staff("bob"))
    for address in addresses(campaign):
        assert strict.post(address).status_code == 403, address


def test_what_is_not_there_or_another_campaign_s_is_not_found(
    ann: Client, campaign: Campaign
) -> None:
    other = make_campaign()
    for pattern in PATTERNS:
        kwargs = arguments(pattern, campaign) if pattern.name not in OPEN_TO_ALL else {}
        for pk in (10**6, other.pk):
            if pk == other.pk and not kwargs.keys() & {"system", "person", "flag", "job", "chat"}:
                continue
            if "pk" in kwargs:
                address = reverse(str(pattern.name), kwargs=kwargs | {"pk": pk})
                statuses = {ann.get(address).status_code, ann.post(address).status_code}
                assert statuses <= {404, 405}, address
                assert 404 in statuses, address


# --- signing in -------------------------------------------------------------------------------


def sign_in(client: Client, password: str, address: str = "/login/") -> int:
    raw = {"username": "ann", "password": password}
    return client.post(address, raw).status_code


def test_signing_in_and_out(client: Client) -> None:
    make_staff("ann")
    assert sign_in(client, "wrong") == 200
    assert sign_in(client, "ann") == 302
    assert client.get("/campaigns/").status_code == 200
    assert client.get("/logout/").status_code == 405
    assert client.post("/logout/").status_code == 302
    assert client.get("/campaigns/").status_code == 302


@pytest.mark.parametrize("address", ["/login/", "/admin/login/"])
def test_a_sixth_attempt_within_a_minute_is_refused(client: Client, address: str) -> None:
    make_staff("ann")
    statuses = [sign_in(client, "wrong", address) for _ in range(5)]
    answer = client.post(address, {"username": "ann", "password": "ann"})
    assert statuses == [200] * 5
    assert (answer.status_code, answer["Retry-After"]) == (429, "60")


def test_an_account_that_is_no_staff_cannot_sign_in(client: Client) -> None:
    get_user_model().objects.create_user("ann", password="ann")
    assert sign_in(client, "ann") == 200
    assert client.get("/campaigns/").status_code == 302


def test_the_admin_shows_rows_and_changes_none(client: Client, campaign: Campaign) -> None:
    client.force_login(get_user_model().objects.create_superuser("root"))
    assert client.get("/admin/webapp/campaign/").status_code == 200
    address = f"/admin/webapp/campaign/{campaign.pk}/change/"
    assert client.get(address).status_code == 200
    assert client.post(address, {"name": "x"}).status_code == 403
    assert client.post(f"/admin/webapp/campaign/{campaign.pk}/delete/").status_code == 403
    assert client.get("/admin/webapp/externalid/").status_code == 404
    assert Participation.objects.filter(campaign=campaign).count() == 1
