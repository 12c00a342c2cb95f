"""A competition in a real browser: rules, an entry, and one that is refused."""

from __future__ import annotations

from datetime import timedelta

import pytest
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

from tests.browser.test_staff_pages import check, refused, sign_in
from tests.webapp.services.studies import make_study
from webapp import clock

__all__ = ["refused"]  # a fixture
pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_rules_and_entries(page: Page, live_server: LiveServer, refused: list[str]) -> None:
    sign_in(page, live_server)
    page.goto(f"{live_server.url}/studies/{make_study().pk}/competition/")
    page.get_by_label("First day").fill(str(clock.now().date()))
    page.get_by_label("Last day").fill(str(clock.now().date() + timedelta(days=90)))
    page.get_by_role("button", name="Announce them").click()
    for team in ("team-1", "team-1"):
        page.get_by_label("Team", exact=True).fill(team)
        page.get_by_label("Bot", exact=True).select_option("parrot")
        page.get_by_label("Data that it learned from").fill("chat | public | https://example.org")
        page.get_by_label("Is it an ensemble").select_option("no")
        page.get_by_role("button", name="Submit it").click()
    expect(page.get_by_role("alert")).to_contain_text("the next submission is possible from")
    expect(page.get_by_role("cell", name="waits to be run")).to_be_visible()
    check(page, "competition")
