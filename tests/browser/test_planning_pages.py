"""The planner's answer and the stop rule's verdict, as pages in a real browser."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

from tests.browser.test_staff_pages import check, sign_in
from tests.factories import make_campaign
from tests.webapp.services.computed import computed
from tests.webapp.views.staff.test_stop_rule import running
from webapp.models import Campaign
from webapp.services.results import computing

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_a_plan_is_typed_wrongly_then_read_with_its_money(
    page: Page, live_server: LiveServer
) -> None:
    bots = {"alpha": "parrot", "beta": "parrot"}
    draft = make_campaign(state=Campaign.State.DRAFT, systems=bots)
    sign_in(page, live_server)
    page.goto(f"{live_server.url}/campaigns/{draft.pk}/launch/")
    page.get_by_label("Difference to be found").fill("a lot")
    page.get_by_label("Ratings that one participant gives").fill("2")
    page.get_by_role("button", name="Plan").click()
    complaint = page.get_by_role("link", name="Difference to be found: “a lot” is not a number")
    expect(complaint).to_be_visible()
    expect(page.get_by_label("Difference to be found")).to_have_value("a lot")
    page.get_by_label("Difference to be found").fill("1")
    page.get_by_label("How much raters differ in severity (SD)").fill("0.5")
    page.get_by_role("button", name="Plan").click()
    expect(page.get_by_text("Campaigns are being simulated since")).to_be_visible()
    computing.compute_wanted(f"campaign-{draft.pk}")
    expect(page.locator("#planned")).to_be_visible(timeout=10_000)  # the page is drawn anew
    expect(page.locator("#plan-cost")).to_contain_text("USD")
    check(page, "planner")


def test_verdicts_of_the_stop_rule_fit_the_live_page(page: Page, live_server: LiveServer) -> None:
    campaign = running(0.95, 0.15, stop_items=60)
    computed(campaign, "scores")
    sign_in(page, live_server)
    page.goto(f"{live_server.url}/campaigns/{campaign.pk}/live/")
    expect(page.locator("#stop-verdict")).to_contain_text("Decided: every pair of systems.")
    check(page, "stop-rule")
