"""Plain HTTP: browsers are sent on to HTTPS, programs are told, nothing is done (ASVS V4.1.2)."""

from __future__ import annotations

import pytest
from django.conf import LazySettings
from django.test import Client

from tests.factories import make_campaign
from webapp.models import Participation

pytestmark = pytest.mark.django_db
BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"


@pytest.fixture
def client(settings: LazySettings) -> Client:
    settings.SECURE_SSL_REDIRECT = True
    return Client()


@pytest.mark.parametrize("method", ["get", "head"])
def test_browsers_are_sent_to_https_and_programs_are_refused(client: Client, method: str) -> None:
    slug = make_campaign().slug
    for address in (f"/c/{slug}/", f"/c/{slug}/status?version=2", "/metrics", "/login/"):
        ask = getattr(client, method)
        sent_on = ask(address, headers={"Accept": BROWSER})
        assert (sent_on.status_code, sent_on["Location"]) == (301, f"https://testserver{address}")
        for accept in ("application/json", "*/*", ""):
            refused = ask(address, headers={"Accept": accept})
            assert refused.status_code == 403
            assert "Location" not in refused
            if method == "get":
                assert b"over HTTPS only" in refused.content


def test_what_is_posted_is_refused_and_not_done(client: Client) -> None:
    slug = make_campaign().slug
    for accept in (BROWSER, "application/json"):
        answer = client.post(f"/c/{slug}/consent", {"agree": "on"}, headers={"Accept": accept})
        assert answer.status_code == 403
    assert not Participation.objects.exists()


def test_over_https_everybody_is_answered(client: Client) -> None:
    slug = make_campaign().slug
    for accept in (BROWSER, "*/*"):
        page = client.get(f"/c/{slug}/", headers={"Accept": accept}, secure=True)
        assert page.status_code == 200
