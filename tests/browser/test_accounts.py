"""An account in a real browser: second factor, lost phone, sessions; members, the log (S4).

A code is good once, so the second one is that of the phone's next step.
"""

from __future__ import annotations

import re

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

from tests.browser.conftest import PHONE
from tests.browser.test_staff_pages import check, refused
from tests.factories import make_campaign, make_member, make_project
from webapp import clock
from webapp.services.accounts import totp
from webapp.services.rules import audit

__all__ = ["refused"]  # a fixture
pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.timeout(240),
]


def sign_in(page: Page, live_server: LiveServer) -> None:
    page.context.clear_cookies()
    page.goto(f"{live_server.url}/login/")
    page.get_by_label("Name").fill("ann")
    page.get_by_label("Password").fill("ann")
    page.get_by_role("button", name="Sign in").click()


def code(secret: str, ahead: int) -> str:
    return totp.code(secret, int(clock.now().timestamp()) // totp.STEP + ahead)


def test_the_second_factor_from_first_code_to_last(
    page: Page, live_server: LiveServer, refused: list[str]
) -> None:
    make_member("ann", "administrator", project=make_project("Lab"))
    page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
    sign_in(page, live_server)
    page.get_by_role("link", name="Account", exact=True).click()
    page.get_by_role("link", name="Set it up").click()
    page.get_by_role("button", name="Set it up").click()
    check(page, "second-factor")
    secret = page.locator("[data-secret]").inner_text().replace(" ", "")
    link = page.get_by_role("link", name="open the app").get_attribute("href")
    assert link is not None
    assert f"secret={secret}" in link
    page.get_by_label("Code that the app shows").fill(code(secret, 0))
    page.get_by_role("button", name="Turn it on").click()
    check(page, "recovery-codes")
    codes = re.findall(r"[a-z2-7]{4}(?:-[a-z2-7]{4}){3}", page.locator("[data-codes]").inner_text())
    assert len(codes) == 10
    for typed in (None, codes[0]):  # the phone, then what is there without it
        sign_in(page, live_server)
        expect(page.get_by_role("heading", name="Your code")).to_be_visible()
        check(page, "code")
        page.get_by_label("Code", exact=True).fill(typed or code(secret, 1))
        page.get_by_role("button", name="Sign in").click()
        expect(page.get_by_role("heading", name="Campaigns")).to_be_visible()
    page.get_by_role("link", name="Account", exact=True).click()
    expect(page.get_by_text("9 recovery codes left")).to_be_visible()
    check(page, "account")
    page.get_by_role("button", name="End all others").click()
    expect(page.get_by_role("button", name="End all others")).to_have_count(0)
    page.get_by_role("link", name="Change it", exact=True).click()
    page.get_by_role("button", name="Turn it off").click()
    expect(page.get_by_text("Your password alone lets you in.")).to_be_visible()


def test_members_and_the_log(page: Page, live_server: LiveServer, refused: list[str]) -> None:
    lab = make_project("Lab")
    make_member("ann", "administrator", project=lab)
    make_member("vera", "viewer", "payer", project=lab)
    make_member("rob")
    campaign = make_campaign(project=lab, name="Pilot")
    for action in ("campaign launched", "exported", "campaign pause"):
        audit.append(actor="vera", action=action, campaign=campaign, now=clock.now())
    sign_in(page, live_server)
    page.get_by_role("link", name="Projects", exact=True).click()
    check(page, "projects")
    page.get_by_role("link", name="Lab").click()
    page.locator("summary").first.click()
    check(page, "members")
    page.goto(f"{live_server.url}{reverse('audit')}")
    expect(page.get_by_text("took the export")).to_be_visible()
    page.get_by_role("button", name="Check it now").click()
    expect(page.get_by_text("unbroken")).to_be_visible()
    check(page, "audit")
    page.goto(f"{live_server.url}{reverse('members', args=[lab.pk])}")
    page.get_by_label("Name of the account").fill("rob")
    adding = page.locator("form", has=page.get_by_role("heading", name="Add a member"))
    adding.get_by_label("runner").check()
    adding.get_by_role("button", name="Add").click()
    expect(page.get_by_text("rob is a member now.")).to_be_visible()
