"""Who may see which page, of staff and of others; signing in; the admin (S1, S3, S4, G11)."""

from __future__ import annotations

from typing import Any

import pytest
from django.conf import LazySettings
from django.contrib.auth import get_user_model
from django.test import Client
from django.urls import reverse

from tests.factories import make_campaign, make_staff
from tests.webapp.views.staff.addresses import (
    OF_A_CAMPAIGN,
    addresses,
    arguments,
    filled,
    names,
    of,
    resolved,
)
from webapp.models import (
    Campaign,
    OwnProtocol,
    Participation,
    ReplyJob,
    Study,
    System,
    Whitelist,
)
from webapp.views.audience import Audience, audience_of, is_of_admin
from webapp.views.staff.access import navigation

pytestmark = pytest.mark.django_db
OPERATOR, PARTICIPANT, PUBLIC = Audience.OPERATOR, Audience.PARTICIPANT, Audience.PUBLIC
METHODS = pytest.mark.parametrize("method", ["get", "post"])


def test_every_view_says_whom_it_is_for() -> None:
    found = {route: audience_of(pattern.callback) for route, pattern in resolved().items()}
    assert [route for route, audience in found.items() if audience is None] == []


def test_the_matrix_has_every_address() -> None:
    """Few are not of staff; what is new under /c/ or for everybody is thought about here."""
    signing = ["admin/login/", "login/", "login/code/", "logout/"]
    images = "images/<sha256:sha256>.webp"
    probes, receipts = ["healthz", "readyz"], ["receipts/", "receipts/key"]
    public = [".well-known/security.txt", "csp-reports", images, *receipts, *probes, *signing]
    assert sorted(of(PUBLIC)) == sorted(public)
    assert of(OPERATOR) == ["metrics"]
    assert sorted(of(Audience.SERVICE)) == ["chat-service/updates", "panel/events"]
    assert all(route.startswith("c/<slug:slug>/") for route in of(PARTICIPANT))
    rooms = ("campaigns/<int:pk>/results", "whitelists/", "docs/", "campaigns/<int:pk>/live")
    staffs = of(Audience.STAFF)
    assert all(any(route.startswith(room) for route in staffs) for room in rooms)
    assert len(staffs) > 40


@METHODS
def test_who_is_not_signed_in_is_sent_to_the_login(
    client: Client, campaign: Campaign, method: str
) -> None:
    for address in addresses(campaign):
        answer = getattr(client, method)(address)
        assert answer.status_code == 302, address
        assert answer["Location"].startswith("/login/"), address


@METHODS
def test_an_account_that_is_no_staff_is_refused(
    client: Client, campaign: Campaign, method: str
) -> None:
    client.force_login(get_user_model().objects.create_user("guest"))
    for address in addresses(campaign):
        assert getattr(client, method)(address).status_code == 403, address


@METHODS
def test_who_was_staff_is_refused(ann: Client, campaign: Campaign, method: str) -> None:
    get_user_model().objects.filter(username="ann").update(is_staff=False)
    for address in addresses(campaign):
        assert getattr(ann, method)(address).status_code == 403, address


def test_staff_see_every_page_and_no_get_changes_anything(ann: Client, campaign: Campaign) -> None:
    OwnProtocol.objects.update(owner=get_user_model().objects.get(username="ann"))
    before = everything()
    for address in addresses(campaign):
        assert ann.get(address).status_code in (200, 302, 405, 409), address
    assert before == everything()


def everything() -> list[object]:
    tables = (Campaign, OwnProtocol, Study, System, ReplyJob, Whitelist)
    return [row for table in tables for row in table._default_manager.values()]


def test_a_post_without_its_token_is_refused(campaign: Campaign) -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(make_staff("bob"))
    for address in addresses(campaign):
        assert strict.post(address).status_code == 403, address


def test_what_is_not_there_or_another_campaign_s_is_not_found(
    ann: Client, campaign: Campaign
) -> None:
    other = make_campaign()
    for route in of(Audience.STAFF):
        changes: list[tuple[str, Any]] = [("pk", 10**6), ("pk", other.pk), ("whitelist", 10**6)]
        changes.append(("study", 10**6))
        changes.append(("own", OwnProtocol.objects.get().pk))  # another requester's
        for name, pk in changes:
            if name not in names(route) or (pk == other.pk and not names(route) & OF_A_CAMPAIGN):
                continue
            address = filled(route, **arguments(campaign, route) | {name: pk})
            statuses = {ann.get(address).status_code, ann.post(address).status_code}
            assert statuses <= {404, 405}, address
            assert 404 in statuses, address


@METHODS
def test_figures_are_only_for_the_token_and_staff(
    client: Client, settings: LazySettings, method: str
) -> None:
    for token in ("", "a-long-token-of-the-deployer"):
        settings.METRICS_TOKEN = token
        for user in (None, get_user_model().objects.create_user(f"guest{token}")):
            client.logout() if user is None else client.force_login(user)
            for route in of(OPERATOR):
                assert getattr(client, method)(f"/{route}").status_code in (404, 405), route


@METHODS
@pytest.mark.parametrize("slug", ["unknown", "draft"])
def test_an_address_of_no_open_campaign_is_not_found(
    client: Client, ann: Client, draft: Campaign, method: str, slug: str
) -> None:
    """Neither for strangers nor for staff, who have no rights of their own there."""
    slug = draft.slug if slug == "draft" else slug
    values = {"slug": slug, "token": "x", "rest": "x"}
    for route in of(PARTICIPANT):
        address = filled(route, **values)
        for visitor in (client, ann):
            answer = getattr(visitor, method)(address, follow=True)
            assert answer.status_code in (404, 405), address


@METHODS
def test_a_stranger_to_an_open_campaign_gets_no_page_of_a_step(
    client: Client, campaign: Campaign, method: str
) -> None:
    """Only its first pages, or the way to them."""
    before = Participation.objects.count()
    first = {filled(f"c/<slug>/{rest}", slug=campaign.slug) for rest in ("", "declined")}
    for route in of(PARTICIPANT):
        address = filled(route, slug=campaign.slug, token="x", rest="x")
        status = getattr(client, method)(address).status_code
        assert status in (302, 404, 405) or (address in first and status == 200), address
    assert Participation.objects.count() == before


@METHODS
def test_the_admin_sends_everybody_else_to_the_login(
    client: Client, campaign: Campaign, method: str
) -> None:
    values = {
        "object_id": campaign.pk,
        "content_type_id": 1,
        "id": 1,
        "app_label": "webapp",
        "url": "x",
    }
    found = [filled(route, **values) for route in resolved() if is_of_admin(route)]
    assert len(found) > 100
    for user in (None, get_user_model().objects.create_user("guest")):
        client.logout() if user is None else client.force_login(user)
        for address in found:
            answer = getattr(client, method)(address)
            assert answer.status_code == 302, address
            assert answer["Location"].startswith(("/admin/login/", "/admin/")), address


# --- navigation -------------------------------------------------------------------------------


def test_the_navigation_has_the_pages_that_ask_for_a_link(ann: Client, campaign: Campaign) -> None:
    given = navigation(None)
    found = {kind: [link.name for link in given[kind]()] for kind in ("main_links", "tabs")}
    usual = ["campaigns", "whitelists", "guides"]
    assert [name for name in found["main_links"] if name in usual] == usual
    usual = ["campaign", "live", "conversations", "people", "results"]
    tabs = [name for name in found["tabs"] if name != "contributions"]  # of texts alone
    assert [name for name in tabs if name in usual] == usual
    for current in tabs:
        page = ann.get(reverse(current, args=[campaign.pk])).content.decode()
        for tab in tabs:
            mark = ' aria-current="page"' if tab == current else ""
            assert f'<a href="{reverse(tab, args=[campaign.pk])}"{mark}>' in page, (current, tab)


def test_a_draft_has_only_the_tab_of_its_setup(ann: Client, draft: Campaign) -> None:
    page = ann.get(reverse("campaign", args=[draft.pk])).content.decode()
    assert f'href="{reverse("campaign", args=[draft.pk])}" aria-current="page"' in page
    assert f'href="{reverse("live", args=[draft.pk])}"' not in page


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
