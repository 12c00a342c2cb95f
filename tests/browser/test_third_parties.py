"""ME-P3 in a real browser: staff take the messages of people who chatted, others judge them."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

from analysis.metrics.ssa import ssa
from tests.browser.test_staff_pages import check, refused, sign_in
from tests.webapp.services.computed import computed
from tests.webapp.services.third import chatted, draft_of, judge_all
from webapp.models import Campaign
from webapp.services.data import tables

__all__ = ["refused"]  # a fixture
pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.timeout(240),
]
MESSAGES = 14  # the least of a conversation by MEENA
IS_SEEN = """(one) => { const log = one.closest('.log').getBoundingClientRect();
  const box = one.getBoundingClientRect();
  return box.top >= log.top - 1 && box.bottom <= log.bottom + 1; }"""


def launch(page: Page, address: str) -> None:
    """Take the messages, look at everything, open the campaign."""
    page.goto(f"{address}messages/")
    check(page, "messages")
    page.get_by_role("button", name=f"Take all {MESSAGES}").click()
    expect(page.get_by_text(f"{MESSAGES} were taken.")).to_be_visible()
    check(page, "messages-taken")
    page.goto(address)
    check(page, "messages-setup")
    page.get_by_role("link", name="Look at the plan and launch").click()
    page.get_by_role("button", name="Freeze the plan and open").click()
    expect(page.get_by_role("button", name="Copy")).to_be_visible()


def judge(page: Page, number: int) -> None:
    """Judge one message in its context, by the keyboard's digits or the mouse."""
    expect(page.get_by_role("heading", name=f"Reply {number} of {MESSAGES}")).to_be_visible()
    expect(page.locator(".msg")).to_have_count(number)
    expect(page.locator(".msg-judged .msg-text")).to_contain_text(f"Line {number - 1} of")
    if number in (1, MESSAGES):
        check(page, f"third-party-{number}")
    assert page.locator(".msg-judged").evaluate(IS_SEEN)
    if number == MESSAGES:
        page.set_viewport_size({"width": 360, "height": 740})
        expect(page.locator(".msg-judged")).to_be_in_viewport()
        assert page.locator(".msg-judged").evaluate(IS_SEEN)
    page.get_by_role("radiogroup", name="makes sense").get_by_text("Yes").click()
    page.get_by_role("radiogroup", name="it is specific").get_by_text("No", exact=True).click()
    last = number == MESSAGES
    page.get_by_role("button", name="Send my answers" if last else "Next reply").click()


def test_from_two_people_to_the_human_row(
    page: Page, live_server: LiveServer, refused: list[str]
) -> None:
    chatted(1, messages=MESSAGES)
    draft = draft_of()
    sign_in(page, live_server)
    launch(page, f"{live_server.url}/campaigns/{draft.pk}/")
    link = f"{live_server.url}/c/{draft.slug}/"
    page.goto(f"{link}?PROLIFIC_PID=p1")
    page.get_by_role("button", name="I agree and take part").click()
    # A link proves nobody, so it is not told whose conversations these are.
    expect(page.get_by_text("Nobody can begin here with this link.")).to_be_visible()
    check(page, "third-party-refused")
    page.goto(f"{link}?PROLIFIC_PID=stranger")
    page.get_by_role("button", name="I agree and take part").click()
    page.get_by_role("button", name="I am ready, start").click()
    for number in range(1, MESSAGES + 1):
        judge(page, number)
    expect(page.get_by_role("heading", name="Your completion code")).to_be_visible()
    campaign = Campaign.objects.get(pk=draft.pk)
    for number in range(4):
        judge_all(campaign, f"rater{number}")
    found = ssa(tables.ratings(campaign)).set_index("metric")["estimate"]
    assert found.to_dict() == {"sensibleness": 1.0, "specificity": 0.0, "ssa": 0.5}
    computed(campaign)
    page.goto(f"{live_server.url}/campaigns/{draft.pk}/results/")
    expect(page.get_by_text("human").first).to_be_visible()
    check(page, "third-party-results")
