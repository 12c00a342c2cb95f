"""The guides as staff see them: pictures are there, tables scroll by themselves, no barrier."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

from tests.browser.looks import wait_until
from tests.browser.test_staff_pages import check, sign_in
from tests.browser.test_staff_pages import refused as refused  # a fixture
from webapp.views.staff import guides

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
LOADED = "Array.from(document.images).every((each) => each.complete && each.naturalWidth > 0)"


def test_guides_are_reached_and_read(
    page: Page, live_server: LiveServer, refused: list[str]
) -> None:
    sign_in(page, live_server)
    page.get_by_role("link", name="Your first study in 10 minutes").click()
    expect(page.get_by_role("heading", name="Your first study in 10 minutes")).to_be_visible()
    page.get_by_role("navigation", name="Main").get_by_role("link", name="Guides").click()
    check(page, "guides")
    for guide in guides.guides()[: len(guides.FIRST)]:
        page.get_by_role("link", name=guide.title).click()
        wait_until(page, LOADED)
        check(page, f"guide-{guide.name}")
        page.locator(".crumbs").get_by_role("link", name="Guides").click()
